#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts the ONNX file of Silero VAD (16 kHz) into a gpuplan model package.

    convert.py silero_vad_16k_op15.onnx OUT_DIR

Writes OUT_DIR/model.safetensors and OUT_DIR/package.json. Needs numpy and nothing else. The output
depends on the input bytes alone, so running it again changes no committed file.

The command list is written here by hand; check_graph() holds the ONNX graph to every assumption it
makes, and check_package.py compares the result with ONNX Runtime.
"""

import json
import os
import struct
import sys

import numpy as np

import onnx_reader

MAX_BATCH = 8
SAMPLES, BASIS_ROWS, WINDOW, HOP, STFT_LEN = 576, 258, 256, 128, 4
BINS = BASIS_ROWS // 2
UNITS = 128
# (in channels, in length, out channels, out length, stride) of the four encoder layers, k = 3, pad = 1
ENCODER = [(129, 4, 128, 4, 1), (128, 4, 64, 2, 2), (64, 2, 64, 1, 2), (64, 1, 128, 1, 1)]

# Allocation name, tensor in the ONNX file
WEIGHTS = [("stft.basis", "model.stft.forward_basis_buffer")]
for layer in range(4):
    WEIGHTS += [(f"encoder.{layer}.weight", f"model.encoder.{layer}.reparam_conv.weight"),
                (f"encoder.{layer}.bias", f"model.encoder.{layer}.reparam_conv.bias")]
WEIGHTS += [(f"lstm.{name}", f"model.decoder.rnn.{name}")
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
WEIGHTS += [("output.weight", "model.decoder.decoder.2.weight"), ("output.bias", "model.decoder.decoder.2.bias")]


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what} is {got}, the command list is written for {wanted}")


def check_graph(graph):
    """The graph is the one that plan() below writes down."""
    outer = [node for node in graph.nodes]
    made_by = {out: node for node in outer for out in node.outputs}

    def constant(name):
        return made_by[name].attributes["value"].tolist()

    # The exporter left torch's pad list (0, 64), last axis first, to be turned round at run time.
    # Turned round it is begin (0, 0), end (0, 64): 64 reflected samples at the END of each row.
    pads = [node for node in outer if node.op == "Pad"]
    expect("number of Pad nodes", len(pads), 1)
    expect("Pad mode", pads[0].attributes["mode"], "reflect")
    expect("Pad input", pads[0].inputs[0], "input")
    expect("pad amounts", constant("onnx::Shape_19"), [0, 64])

    convs = {node.inputs[1]: node for node in outer if node.op == "Conv"}
    expect("number of Conv nodes", len(convs), 6)

    def check_conv(weight, bias, kernel, stride, pad):
        node = convs[weight]
        expect(f"{weight} bias", node.inputs[2:], [bias] if bias else [])
        for key, wanted in (("kernel_shape", [kernel]), ("strides", [stride]), ("pads", [pad, pad]),
                            ("dilations", [1]), ("group", 1)):
            got = node.attributes[key]
            expect(f"{weight} {key}", got if isinstance(wanted, list) or isinstance(got, int) else got[0],
                   wanted)
        return node

    check_conv("model.stft.forward_basis_buffer", None, WINDOW, HOP, 0)
    for layer, (_, _, _, _, stride) in enumerate(ENCODER):
        prefix = f"model.encoder.{layer}.reparam_conv."
        node = check_conv(prefix + "weight", prefix + "bias", 3, stride, 1)
        users = [user.op for user in outer if node.outputs[0] in user.inputs]
        expect(f"{prefix} followed by", users, ["Relu"])
    node = check_conv("model.decoder.decoder.2.weight", "model.decoder.decoder.2.bias", 1, 1, 0)
    expect("output layer preceded by", made_by[node.inputs[0]].op, "Relu")
    expect("output layer followed by", [user.op for user in outer if node.outputs[0] in user.inputs],
           ["Sigmoid"])

    # sqrt(first half ^ 2 + second half ^ 2): the split point is the constant 129
    expect("rows before the imaginary half", constant("onnx::Unsqueeze_18"), BINS)
    expect("powers", [constant(node.inputs[1]) for node in outer if node.op == "Pow"], [2.0, 2.0])
    expect("number of Sqrt nodes", sum(node.op == "Sqrt" for node in outer), 1)

    # Both branches of the If (state given or not) hold the same LSTM with default activations.
    lstms = [node for node in graph.all_nodes() if node.op == "LSTM"]
    expect("number of LSTM nodes", len(lstms) > 0, True)
    for node in lstms:
        expect("LSTM attributes", node.attributes, {"hidden_size": UNITS})

    # Batch is free, so only the per-lane arithmetic is checked: 16 kHz frames of 576 samples.
    length = (SAMPLES + 64 - WINDOW) // HOP + 1
    expect("STFT positions", length, STFT_LEN)
    for in_ch, in_len, out_ch, out_len, stride in ENCODER:
        expect("layer input length", in_len, length)
        length = (length + 2 - 3) // stride + 1
        expect("layer output length", out_len, length)


def read_weights(graph):
    shapes = {"stft.basis": [BASIS_ROWS, 1, WINDOW], "lstm.weight_ih": [4 * UNITS, UNITS],
              "lstm.weight_hh": [4 * UNITS, UNITS], "lstm.bias_ih": [4 * UNITS], "lstm.bias_hh": [4 * UNITS],
              "output.weight": [1, UNITS, 1], "output.bias": [1]}
    for layer, (in_ch, _, out_ch, _, _) in enumerate(ENCODER):
        shapes[f"encoder.{layer}.weight"] = [out_ch, in_ch, 3]
        shapes[f"encoder.{layer}.bias"] = [out_ch]
    tensors = {}
    for name, onnx_name in WEIGHTS:
        array = graph.initializers[onnx_name]
        expect(f"shape of {onnx_name}", list(array.shape), shapes[name])
        tensors[name] = array
    expect("tensors the graph has", len(graph.initializers), len(WEIGHTS))
    return tensors


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"source": "silero_vad_16k_op15.onnx", "license": "MIT"}}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the data then starts at a multiple of 8
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array, "<f4").tobytes())


SCRATCH = [("spectrum", [BASIS_ROWS, STFT_LEN]), ("magnitude", [BINS, STFT_LEN])]
SCRATCH += [(f"encoder.{layer}.out", [out_ch, out_len]) for layer, (_, _, out_ch, out_len, _) in enumerate(ENCODER)]
SCRATCH += [("gates_h", [4 * UNITS])]

# Allocations of more than one batch lane are declared for MAX_BATCH lanes. A plan pays for the part
# it refers to, so a plan for one lane is as small as if it had its own.
ALLOCATIONS = {}


def allocate(name, use, placement, shape, **extra):
    ALLOCATIONS[name] = {"name": name, "kind": use, "placement": placement, "dtype": "f32", "shape": shape, **extra}


def declare(tensors):
    for name, array in tensors.items():
        allocate(name, "weight", "device", list(array.shape), tensor=name)
    for name, shape in SCRATCH:
        allocate(name, "scratch", "device", [MAX_BATCH] + shape)
    for name in ("h", "c"):
        allocate(name, "state", "device", [MAX_BATCH, UNITS])
    allocate("input", "scratch", "host", [MAX_BATCH, SAMPLES])
    allocate("output", "scratch", "host", [MAX_BATCH, 1])
    allocate("state", "scratch", "host", [2, 1, UNITS])
    allocate("stateN", "scratch", "host", [2, 1, UNITS])
    allocate("input.device", "scratch", "device", [MAX_BATCH, SAMPLES])
    allocate("output.device", "scratch", "device", [MAX_BATCH, 1])


def region(name, shape, offset=0):
    return {"allocation": name, "offset": offset, "bytes": 4 * int(np.prod(shape))}


def dispatch(label, kernel, grid, block, *args):
    """args in kernel order: ("r" or "w", region) pairs, then ints."""
    bindings = [{"region": arg[1], "access": arg[0]} for arg in args if isinstance(arg, tuple)]
    numbers = [arg for arg in args if not isinstance(arg, tuple)]
    return {"dispatch": {"kernel": kernel, "grid": grid, "block": [block, 1, 1], "dynamic_lds": 0,
                         "bindings": bindings,
                         "args": [{"binding": i} for i in range(len(bindings))] + [{"i32": n} for n in numbers]},
            "label": label}


def up(n, step):
    return (n + step - 1) // step


def plan(name, batch, samples="input", probability="output", explicit_state=False):
    def lanes(allocation, shape):
        return region(allocation, [batch] + shape)

    def weight(allocation):
        return "r", region(allocation, ALLOCATIONS[allocation]["shape"])

    unit = [1, UNITS]
    if explicit_state:
        h_in, c_in = region("state", unit), region("state", unit, 4 * UNITS)
        h_out, c_out = region("stateN", unit), region("stateN", unit, 4 * UNITS)
    else:
        h_in = h_out = lanes("h", [UNITS])
        c_in = c_out = lanes("c", [UNITS])
    spectrum, magnitude = lanes("spectrum", [BASIS_ROWS, STFT_LEN]), lanes("magnitude", [BINS, STFT_LEN])
    gates_h, out = lanes("gates_h", [4 * UNITS]), lanes(probability, [1])

    commands = [
        dispatch("stft", "conv1d_reflect", [up(BASIS_ROWS, 8), up(batch * STFT_LEN, 4), 1], 128,
                 ("r", lanes(samples, [SAMPLES])), weight("stft.basis"), ("w", spectrum),
                 batch, 1, SAMPLES, BASIS_ROWS, STFT_LEN, WINDOW, HOP, 0),
        # Needs only the state: independent of every command up to the LSTM cell.
        dispatch("lstm.gates_h", "linear", [up(4 * UNITS, 8), batch, 1], 128,
                 ("r", h_in), weight("lstm.weight_hh"), weight("lstm.bias_hh"), ("w", gates_h),
                 4 * UNITS, UNITS),
        dispatch("magnitude", "magnitude", [up(BINS * STFT_LEN, 64), batch, 1], 64,
                 ("r", spectrum), ("w", magnitude), BINS * STFT_LEN),
    ]
    x = magnitude
    for layer, (in_ch, in_len, out_ch, out_len, stride) in enumerate(ENCODER):
        y = lanes(f"encoder.{layer}.out", [out_ch, out_len])
        commands.append(
            dispatch(f"encoder.{layer}", "conv1d", [up(out_ch, 8), up(batch * out_len, 4), 1], 128,
                     ("r", x), weight(f"encoder.{layer}.weight"), weight(f"encoder.{layer}.bias"), ("w", y),
                     batch, in_ch, in_len, out_ch, out_len, 3, stride, 1, 1))
        x = y
    commands += [
        dispatch("lstm.cell", "lstm_cell", [up(UNITS, 8), batch, 1], 128,
                 ("r", x), weight("lstm.weight_ih"), weight("lstm.bias_ih"), ("r", gates_h), ("r", c_in),
                 ("w", h_out), ("w", c_out), UNITS, UNITS),
        dispatch("output", "relu_dot_sigmoid", [batch, 1, 1], 64,
                 ("r", h_out), weight("output.weight"), weight("output.bias"), ("w", out), UNITS),
    ]

    def io(io_name, where, shape):
        return {"name": io_name, "region": where, "dtype": "f32", "shape": shape}

    inputs = [io("input", lanes(samples, [SAMPLES]), [batch, SAMPLES])]
    outputs = [io("output", out, [batch, 1])]
    if explicit_state:
        inputs.append(io("state", region("state", [2, 1, UNITS]), [2, 1, UNITS]))
        outputs.append(io("stateN", region("stateN", [2, 1, UNITS]), [2, 1, UNITS]))
    return {"name": name, "inputs": inputs, "outputs": outputs, "commands": commands}


def package():
    kernels = [("conv1d", "conv1d"), ("conv1d_reflect", "conv1d"), ("linear", "linear"), ("magnitude", "magnitude"),
               ("lstm_cell", "lstm_cell"), ("relu_dot_sigmoid", "relu_dot_sigmoid")]
    return {"format": 1, "name": "silero-vad-16k",
            "description": "Silero VAD, 16 kHz: 576 samples in (64 of the frame before, 512 new), probability of "
                           "speech out. State h and c of the LSTM is kept per slot and lane, except in b1-explicit.",
            "weights": ["model.safetensors"],
            "allocations": list(ALLOCATIONS.values()),
            "kernels": [{"name": name, "object": stem, "symbol": name} for name, stem in kernels],
            "plans": [plan("b1", 1), plan("b4", 4), plan("b8", 8), plan("b1-explicit", 1, explicit_state=True),
                      plan("b1-staged", 1, "input.device", "output.device")]}


def write_json(path, value):
    """Readable and diffable: one line per leaf-like object, indented above that."""
    def text(node, indent):
        flat = json.dumps(node)
        if len(flat) + indent <= 140 or not isinstance(node, (dict, list)):
            return flat
        inner = " " * (indent + 2)
        if isinstance(node, dict):
            lines = [f"{inner}{json.dumps(key)}: {text(one, indent + 2)}" for key, one in node.items()]
            return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
        lines = [inner + text(one, indent + 2) for one in node]
        return "[\n" + ",\n".join(lines) + "\n" + " " * indent + "]"

    with open(path, "w", encoding="utf-8") as file:
        file.write(text(value, 0) + "\n")


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    graph = onnx_reader.read(sys.argv[1])
    check_graph(graph)
    tensors = read_weights(graph)
    declare(tensors)
    write_safetensors(os.path.join(sys.argv[2], "model.safetensors"), tensors)
    write_json(os.path.join(sys.argv[2], "package.json"), package())
    print(f"{sum(array.size for array in tensors.values())} weights in {len(tensors)} tensors")


main()
