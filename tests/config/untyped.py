"""Reads documents of YAML by PyYAML: a JSON list of texts in, a list of values out.

A text that PyYAML rejects has the value {"rejected": true}. Keys are strings, as in JSON.
"""

import json
import sys

import yaml


def value(text):
    try:
        return {"value": plain(yaml.safe_load(text))}
    except (yaml.YAMLError, ValueError):
        return {"rejected": True}


def plain(read):
    if isinstance(read, dict):
        return {key(k): plain(v) for k, v in read.items()}
    if isinstance(read, list):
        return [plain(v) for v in read]
    if read is None or isinstance(read, (str, bool, int, float)):
        return read
    return {"of another type": str(read)}


def key(read):
    return read if isinstance(read, str) else json.dumps(read, default=str)


json.dump([value(text) for text in json.load(sys.stdin)], sys.stdout)
