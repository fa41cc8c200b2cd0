"""Another table in place of a library's own, before any case is run: --install=MODULE
imports a module and calls its install(). The outcomes that are written down stay."""

import argparse
import importlib


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--install", action="append", default=[], metavar="MODULE")
    return parser


def parse(parser):
    """What was chosen, once all is installed."""
    chosen = parser.parse_args()
    for name in chosen.install:
        importlib.import_module(name).install()
    return chosen
