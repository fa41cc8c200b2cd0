"""Writes ONNX models without a package: protobuf fields by number."""

import struct

FLOAT, INT64, DOUBLE, BOOL = 1, 7, 11, 9


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def whole(field, number):
    return varint(field << 3) + varint(number)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def real(field, number):
    return varint(field << 3 | 5) + struct.pack("<f", number)


def attribute(name, value):
    """AttributeProto: name 1, f 2, i 3, s 4, floats 7, ints 8, type 20."""
    out = block(1, name)
    if isinstance(value, float):
        return out + real(2, value) + whole(20, 1)
    if isinstance(value, int):
        return out + whole(3, value) + whole(20, 2)
    if isinstance(value, (str, bytes)):
        return out + block(4, value) + whole(20, 3)
    if value and isinstance(value[0], float):
        return out + b"".join(real(7, item) for item in value) + whole(20, 6)
    return out + b"".join(whole(8, item) for item in value) + whole(20, 7)


def node(operator, domain, inputs, outputs, **attributes):
    """NodeProto: input 1, output 2, op_type 4, attribute 5, domain 7."""
    out = b"".join(block(1, name) for name in inputs) + b"".join(block(2, name) for name in outputs)
    out += block(4, operator) + b"".join(block(5, attribute(*item)) for item in attributes.items())
    return out + block(7, domain)


def value(name, dtype, rank):
    """ValueInfoProto: name 1, type 2; its tensor 1: elem_type 1, shape 2, of unnamed dimensions 1."""
    shape = b"".join(block(1, block(2, f"{name}_{d}")) for d in range(rank))
    return block(1, name) + block(2, block(1, whole(1, dtype) + block(2, shape)))


def model(nodes, inputs, outputs, between=()):
    """ModelProto: ir_version 1, graph 7, opset_import 8.

    GraphProto: node 1, name 2, input 11, output 12, value_info 13."""
    graph = b"".join(block(1, n) for n in nodes) + block(2, "g")
    graph += b"".join(block(11, value(*v)) for v in inputs) + b"".join(block(12, value(*v)) for v in outputs)
    graph += b"".join(block(13, value(*v)) for v in between)
    opsets = [("", 18), ("acme", 1), ("other", 1)]
    return whole(1, 9) + block(7, graph) + b"".join(block(8, block(1, d) + whole(2, v)) for d, v in opsets)
