#!/bin/sh
# SPDX-License-Identifier: MIT
# Names that a page goes by, one a line: what stands in its NAME section before the dash.
sed -n '/^\.SH NAME/{n;s/ \\-.*//;s/,//g;p}' "$1" | tr ' ' '\n'
