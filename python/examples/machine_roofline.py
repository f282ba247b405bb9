"""The roofline of a machine and its arch line: performance and efficiency over the intensity of the work."""

import greenup


def main() -> None:
    machine = greenup.Machine("h200")
    print(machine.title)
    print(f"time balance {machine.time_balance() or 0:.2f} flop/byte, energy balance {machine.energy_balance() or 0:.2f} flop/byte")
    print("flop/byte   TFLOP/s   GFLOP/J   bound by")
    for exponent in range(-2, 9, 2):
        intensity = 2.0**exponent
        p = machine.predict({"f64": 1e12, "dram": 1e12 / intensity})
        print(f"{intensity:9.4g} {1 / p['time_s']:9.3f} {1e3 / p['energy_j']:9.3f}   {p['bound']}")


if __name__ == "__main__":
    main()
