"""Replaces a library's table before any case runs: --install=MODULE imports a module and calls its
install(). The expected outcomes do not change."""

import argparse
import importlib


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--install", action="append", default=[], metavar="MODULE")
    return parser


def parse(parser):
    """The selected cases, once everything is installed."""
    chosen = parser.parse_args()
    for name in chosen.install:
        importlib.import_module(name).install()
    return chosen
