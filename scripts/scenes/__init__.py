"""The sample scenes: one module per scene, drawn with `canvas`, textured with `noise`, written by `png`."""
