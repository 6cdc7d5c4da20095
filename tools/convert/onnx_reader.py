# SPDX-License-Identifier: MIT
"""The part of the ONNX file format that convert.py needs, read straight from the protobuf encoding.

Field numbers are those of onnx/onnx.proto (ONNX 1.x): ModelProto.graph = 7, GraphProto.node = 1,
.initializer = 5, NodeProto.input/output/name/op_type/attribute = 1..5, and so on below.
"""

import struct

import numpy as np

FLOAT, INT64 = 1, 7  # TensorProto.DataType


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def signed(value):
    """int64 fields are two's complement in ten varint bytes."""
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """(field number, value) pairs: int for varint, bytes otherwise."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at:at + size], at + size
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire} at byte {at} is not used by ONNX")
        yield key >> 3, value


def integers(value):
    """A repeated int64 field: one value, or several packed."""
    if isinstance(value, int):
        return [signed(value)]
    out, at = [], 0
    while at < len(value):
        one, at = varint(value, at)
        out.append(signed(one))
    return out


def tensor(data):
    """(name, numpy array) of a TensorProto whose values are in raw_data."""
    name, kind, shape, raw = "", 0, [], None
    for number, value in fields(data):
        if number == 1:
            shape += integers(value)
        elif number == 2:
            kind = value
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
    if raw is None or kind not in (FLOAT, INT64):
        raise ValueError(f"tensor '{name}': only float and int64 raw_data are read, this is type {kind}")
    return name, np.frombuffer(raw, "<f4" if kind == FLOAT else "<i8").reshape(shape)


def attribute(data):
    name, ints, one = "", [], None
    for number, value in fields(data):
        if number == 1:
            name = value.decode()
        elif number == 2:
            one = struct.unpack("<f", value)[0]
        elif number == 3:
            one = signed(value)
        elif number == 4:
            one = value.decode()
        elif number == 5:
            one = tensor(value)[1]
        elif number == 6:
            one = Graph(value)
        elif number == 8:
            ints += integers(value)
    return name, one if one is not None else ints


class Node:
    def __init__(self, data):
        self.inputs, self.outputs, self.name, self.op, self.attributes = [], [], "", "", {}
        for number, value in fields(data):
            if number == 1:
                self.inputs.append(value.decode())
            elif number == 2:
                self.outputs.append(value.decode())
            elif number == 3:
                self.name = value.decode()
            elif number == 4:
                self.op = value.decode()
            elif number == 5:
                name, one = attribute(value)
                self.attributes[name] = one


class Graph:
    def __init__(self, data):
        self.nodes, self.initializers = [], {}
        for number, value in fields(data):
            if number == 1:
                self.nodes.append(Node(value))
            elif number == 5:
                name, array = tensor(value)
                self.initializers[name] = array

    def all_nodes(self):
        """Every node, those of If branches after the If that holds them."""
        for node in self.nodes:
            yield node
            for inner in node.attributes.values():
                if isinstance(inner, Graph):
                    yield from inner.all_nodes()


def read(path):
    with open(path, "rb") as file:
        for number, value in fields(file.read()):
            if number == 7:
                return Graph(value)
    raise ValueError(f"{path}: no graph in this file")
