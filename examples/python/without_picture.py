"""A model with no picture at all: which towns should get a shop?

    python without_picture.py

A town has a profit of its own, a road costs when only one of its ends has a shop, and a county's licences get cheaper by number.
"""

import lfield

TOWNS = {"Ashford": -3.0, "Birch": -0.5, "Calder": 1.2, "Dunmore": -1.5, "Elm": 0.8, "Foxhole": -0.2, "Grange": 2.0}
ROADS = [(0, 1, 1.0), (1, 2, 0.6), (2, 3, 0.4), (3, 4, 0.9), (4, 5, 0.7), (5, 6, 0.3), (6, 0, 0.2)]
COUNTIES = [([0, 1, 2], [1.0, 0.3, 0.1]), ([3, 4, 5, 6], [0.8, 0.4, 0.1, 0.1])]


def main() -> None:
    model = lfield.Model(list(TOWNS.values()))
    for a, b, price in ROADS:
        model.add_chain([a, b], [price])
    for towns, licences in COUNTIES:
        model.add_group(towns, licences)
    result = model.solve(solver="min-norm", tolerance=1e-12)
    for name, probability, shop in zip(TOWNS, result.marginals, result.mask):
        print(f"{name:8} {probability:.3f} {'shop' if shop else '-'}")
    proof = result.report
    print(f"cost {proof['map']['energy']:.3f}, at least {proof['map']['lower_bound']:.3f} for any choice")
    print(f"{proof['bounds']['log_z_lower']:.3f} ≤ log Z ≤ {proof['bounds']['log_z_upper']:.3f}")


if __name__ == "__main__":
    main()
