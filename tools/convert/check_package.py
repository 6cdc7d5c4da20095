#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a model package without a GPU and compares it with the reference beside it.

    check_package.py PACKAGE_DIR [--plan NAME] [--kernels LIBRARY] [--frames N]

The package is interpreted as docs/package-format.md says: allocations, regions, bindings, arguments
in kernel order. What a kernel does is written down twice:
 - here in numpy, from the comment at the head of each .cl file;
 - with --kernels, the .cl source itself, compiled for the CPU (run_kernels.c says how).

Two freedoms of a GPU are taken on purpose: scratch is poisoned with NaN before every run, and the
commands run in a random order among those that the declared accesses allow. A missing declaration,
or reading what was not written, therefore shows as a wrong answer.
"""

import argparse
import ctypes
import json
import os
import struct
import sys
import wave

import numpy as np

ITEM = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8,
        "f64": 8}


def ceil_div(n, step):
    return (n + step - 1) // step


def need(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: {got}, expected {wanted}")


class Kernels:
    """The kernels in numpy. Each takes float views of its bindings, its numbers, and checks the launch."""

    @staticmethod
    def convolution(x, w, batch, in_ch, in_len, out_ch, out_len, k, stride, pad, reflect):
        x = x.reshape(batch, in_ch, in_len)
        w = w.reshape(out_ch, in_ch * k)
        at = np.arange(out_len)[:, None] * stride - pad + np.arange(k)[None, :]
        if reflect:
            at = np.where(at >= in_len, 2 * (in_len - 1) - at, at)
        inside = (at >= 0) & (at < in_len)
        columns = np.where(inside, x[:, :, np.clip(at, 0, in_len - 1)], np.float32(0))  # batch, in_ch, out_len, k
        columns = columns.transpose(0, 1, 3, 2).reshape(batch, in_ch * k, out_len)
        return (w[None] @ columns).astype(np.float32)

    def conv1d(self, grid, x, w, bias, out, batch, in_ch, in_len, out_ch, out_len, k, stride, pad, relu):
        need("conv1d grid", grid, [ceil_div(out_ch, 8), ceil_div(batch * out_len, 4), 1])
        y = self.convolution(x, w, batch, in_ch, in_len, out_ch, out_len, k, stride, pad, False) + bias[None, :, None]
        out[:] = (np.maximum(y, 0) if relu else y).reshape(-1)

    def conv1d_reflect(self, grid, x, w, out, batch, in_ch, in_len, out_ch, out_len, k, stride, pad):
        need("conv1d_reflect grid", grid, [ceil_div(out_ch, 8), ceil_div(batch * out_len, 4), 1])
        out[:] = self.convolution(x, w, batch, in_ch, in_len, out_ch, out_len, k, stride, pad, True).reshape(-1)

    def linear(self, grid, x, w, bias, y, rows, depth):
        need("linear grid", grid, [ceil_div(rows, 8), x.size // depth, 1])
        y[:] = (x.reshape(-1, depth) @ w.reshape(rows, depth).T + bias).reshape(-1)

    def magnitude(self, grid, spectrum, mag, n):
        need("magnitude grid", grid, [ceil_div(n, 64), mag.size // n, 1])
        parts = spectrum.reshape(-1, 2, n)
        mag[:] = np.sqrt(parts[:, 0] ** 2 + parts[:, 1] ** 2).reshape(-1)

    def lstm_cell(self, grid, x, w, bias, gates_h, c_in, h_out, c_out, units, depth):
        batch = x.size // depth
        need("lstm_cell grid", grid, [ceil_div(units, 8), batch, 1])
        gates = x.reshape(batch, depth) @ w.reshape(4 * units, depth).T + bias + gates_h.reshape(batch, 4 * units)
        i, f, g, o = (gates[:, q * units:(q + 1) * units] for q in range(4))
        c = self.sigmoid(f) * c_in.reshape(batch, units) + self.sigmoid(i) * np.tanh(g)
        c_out[:] = c.reshape(-1)
        h_out[:] = (self.sigmoid(o) * np.tanh(c)).reshape(-1)

    def relu_dot_sigmoid(self, grid, x, w, bias, y, depth):
        need("relu_dot_sigmoid grid", grid, [x.size // depth, 1, 1])
        y[:] = self.sigmoid(np.maximum(x.reshape(-1, depth), 0) @ w + bias[0])

    @staticmethod
    def sigmoid(x):
        return np.float32(1) / (np.float32(1) + np.exp(-x))


class Package:
    def __init__(self, folder):
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            self.json = json.load(file)
        need("format", self.json["format"], 1)
        self.kernels = {kernel["name"]: kernel for kernel in self.json["kernels"]}
        tensors = {}
        for name in self.json["weights"]:
            tensors.update(self.safetensors(os.path.join(folder, name)))
        self.memory, self.use = {}, {}
        for one in self.json["allocations"]:
            size = one.get("bytes") or ITEM[one["dtype"]] * int(np.prod(one["shape"], dtype=np.int64))
            self.use[one["name"]] = one["kind"]
            if one["kind"] == "weight":
                data = tensors[one["tensor"]]
                need(f"bytes of tensor {one['tensor']}", len(data), size)
                self.memory[one["name"]] = np.frombuffer(data, np.uint8)  # read-only
            else:
                self.memory[one["name"]] = np.zeros(size, np.uint8)

    @staticmethod
    def safetensors(path):
        with open(path, "rb") as file:
            data = file.read()
        start = 8 + struct.unpack_from("<Q", data)[0]
        header = json.loads(data[8:start])
        header.pop("__metadata__", None)
        return {name: data[start + t["data_offsets"][0]:start + t["data_offsets"][1]] for name, t in header.items()}

    def view(self, region):
        memory = self.memory[region["allocation"]]
        end = region["offset"] + region["bytes"]
        if end > memory.size:
            raise SystemExit(f"region of {region['allocation']} ends at {end}, the allocation at {memory.size}")
        return memory[region["offset"]:end].view("<f4")

    def start_run(self):
        for name, memory in self.memory.items():
            if self.use[name] == "scratch":
                memory[:] = 0xFF  # a NaN in every float type

    def reset_state(self):
        for name, memory in self.memory.items():
            if self.use[name] == "state":
                memory[:] = 0


def accesses(command):
    """(region, written) of a command."""
    if "fill" in command:
        return [(command["fill"]["dst"], True)]
    if "copy" in command:
        return [(command["copy"]["src"], False), (command["copy"]["dst"], True)]
    return [(b["region"], "w" in b["access"]) for b in command["dispatch"]["bindings"]]


def conflict(a, b):
    return any((wa or wb) and ra["allocation"] == rb["allocation"] and ra["offset"] < rb["offset"] + rb["bytes"]
               and rb["offset"] < ra["offset"] + ra["bytes"] for ra, wa in accesses(a) for rb, wb in accesses(b))


class Plan:
    def __init__(self, package, plan, library, random):
        self.package, self.json, self.library, self.random = package, plan, library, random
        commands = plan["commands"]
        self.after = [[i for i in range(j) if conflict(commands[i], commands[j])] for j in range(len(commands))]
        self.io = {one["name"]: self.package.view(one["region"]) for one in plan["inputs"] + plan["outputs"]}
        for one in plan["inputs"] + plan["outputs"]:
            need(f"bytes of {one['name']}", ITEM[one["dtype"]] * int(np.prod(one["shape"])), one["region"]["bytes"])

    def order(self):
        """A random order that keeps every pair of conflicting commands as written."""
        left, done = list(range(len(self.json["commands"]))), set()
        while left:
            ready = [i for i in left if done.issuperset(self.after[i])]
            pick = ready[self.random.integers(len(ready))]
            left.remove(pick)
            done.add(pick)
            yield self.json["commands"][pick]

    def run(self, inputs):
        self.package.start_run()
        for name, value in inputs.items():
            self.io[name][:] = np.asarray(value, np.float32).reshape(-1)
        for command in self.order():
            self.step(command)

    def step(self, command):
        if "fill" in command:
            self.package.view(command["fill"]["dst"]).view("<u4")[:] = command["fill"]["value"]
        elif "copy" in command:
            self.package.view(command["copy"]["dst"])[:] = self.package.view(command["copy"]["src"])
        else:
            self.dispatch(command["dispatch"])

    def dispatch(self, d):
        """Reads get a copy, so that nothing declared as read is written; all that is declared as written must be."""
        views = [self.package.view(b["region"]) for b in d["bindings"]]
        args = []
        for arg in d["args"]:
            if "binding" in arg:
                i = arg["binding"]
                args.append(views[i] if "w" in d["bindings"][i]["access"] else views[i].copy())
            else:
                args.append(next(iter(arg.values())))
        for view, binding in zip(views, d["bindings"]):
            if binding["access"] == "w" and not self.read_too(d, binding):
                view[:] = np.nan
        symbol = self.package.kernels[d["kernel"]]["symbol"]
        if self.library:
            self.launch(symbol, d, args)
        else:
            getattr(Kernels(), symbol)(d["grid"], *args)
        for view, binding in zip(views, d["bindings"]):
            if "w" in binding["access"] and np.isnan(view).any():
                raise SystemExit(f"{symbol} left {np.isnan(view).sum()} elements of {binding['region']} unwritten")

    @staticmethod
    def read_too(d, written):
        return any("r" in b["access"] and b["region"] == written["region"] for b in d["bindings"])

    def launch(self, symbol, d, args):
        words = (ctypes.c_uint64 * len(args))()
        for i, arg in enumerate(args):
            words[i] = arg.ctypes.data if isinstance(arg, np.ndarray) else arg & 0xFFFFFFFF
        three = ctypes.c_uint32 * 3
        code = self.library.run_kernel(symbol.encode(), three(*d["grid"]), three(*d["block"]), words, len(args))
        need(f"{symbol} on the CPU (grid {d['grid']}, block {d['block']})", code, 0)


def frames_of(folder, reference):
    with wave.open(os.path.join(folder, reference["wav"])) as file:
        need("sample rate", file.getframerate(), reference["sample_rate"])
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / np.float32(32768)
    return samples.reshape(-1, reference["frame"])


def stream(frames, context, shift):
    """(frames, context + frame): the frames turned round by shift, each with the end of the one before."""
    turned = np.roll(frames, -shift, axis=0)
    before = np.zeros((len(turned), context), np.float32)
    before[1:] = turned[:-1, -context:]
    return np.concatenate([before, turned], axis=1)


def check_plan(plan, folder, reference, n_frames):
    """Largest error of a probability and of the state; None when n_frames has none of the reference's states."""
    frames = frames_of(folder, reference)
    inputs = {one["name"]: one for one in plan.json["inputs"]}
    batch = inputs[reference["input"]]["shape"][0]
    lanes = [stream(frames, reference["context"], reference["streams"][s]["shift"]) for s in range(batch)]
    expected = np.array([reference["streams"][s]["probability"] for s in range(batch)]).T
    states = {one["frame"]: np.array(one["stateN"]) for one in reference["states"]}
    explicit = reference["state_input"] in inputs
    state, worst, state_errors = np.zeros(256, np.float32), 0.0, []
    plan.package.reset_state()
    for i in range(n_frames):
        given = {reference["input"]: np.stack([lane[i] for lane in lanes])}
        if explicit:
            given[reference["state_input"]] = state
        plan.run(given)
        worst = np.maximum(worst, np.abs(plan.io[reference["output"]] - expected[i]).max())  # keeps NaN
        if explicit:
            state = plan.io[reference["state_output"]].copy()
        else:  # lane 0 is stream 0
            state = np.concatenate([plan.package.memory[name].view("<f4")[:128] for name in ("h", "c")])
        if i in states:
            state_errors.append(np.abs(state - states[i]).max())
    return worst, np.max(state_errors) if state_errors else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--plan", help="only this plan")
    parser.add_argument("--kernels", help="shared library made from run_kernels.c")
    parser.add_argument("--frames", type=int, help="only the first so many frames")
    parser.add_argument("--limit", type=float, default=2e-5, help="largest error of a probability (default 2e-5); ten times that for the state")
    options = parser.parse_args()
    package = Package(options.folder)
    with open(os.path.join(options.folder, "reference.json"), encoding="utf-8") as file:
        reference = json.load(file)
    library = ctypes.CDLL(os.path.abspath(options.kernels)) if options.kernels else None
    failed = False
    for json_plan in package.json["plans"]:
        if options.plan in (None, json_plan["name"]):
            plan = Plan(package, json_plan, library, np.random.default_rng(1))
            n_frames = min(options.frames or reference["frames"], reference["frames"])
            error, state_error = check_plan(plan, options.folder, reference, n_frames)
            failed |= not (error < options.limit and (state_error or 0) < 10 * options.limit)  # NaN fails too
            state_text = f"{state_error:.2e}" if state_error is not None else "not in the reference so early"
            print(f"{json_plan['name']:12} {n_frames} frames, max |probability - reference| {error:.2e}, "
                  f"max |state - reference| {state_text}")
    sys.exit(failed)


main()
