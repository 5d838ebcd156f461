"""Runs the Python example of a README, given a photo and strokes: python3 scripts/python_readme.py README.md"""

import re
import sys

import numpy

image = numpy.full((40, 60, 3), 40, numpy.uint8)
image[10:30, 20:45] = (200, 60, 30)
labels = numpy.zeros((40, 60), numpy.uint8)
labels[2, 2:50], labels[15:25, 30] = 1, 2
names = {"image": image, "labels": labels, "probabilities": numpy.full((40, 60), 0.4)}
with open(sys.argv[1]) as readme:
    blocks = re.findall(r"```python\n(.*?)```", readme.read(), re.S)
if not blocks:
    sys.exit(f"{sys.argv[1]} has no example in Python")
for block in blocks:
    exec(block, names)
