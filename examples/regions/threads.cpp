// Two threads with regions of their own, ended also by an exception.
//
//   c++ -O2 -pthread threads.cpp -I../../crates/regions/include -L../../target/debug -lgreenup_regions -o threads
//   LD_LIBRARY_PATH=../../target/debug ./threads
#include "greenup.h"
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <thread>

static double work(int n) {
    GREENUP_REGION("work");
    double sum = 0;
    for (int i = 1; i <= n; i++)
        sum += std::sin(i);
    if (n < 0)
        throw std::invalid_argument("n < 0");
    return sum;
}

int main() {
    greenup::Region all("all");
    double sums[2];
    std::thread other([&] {
        GREENUP_REGION("thread");
        sums[0] = work(2000000);
    });
    sums[1] = work(2000000);
    other.join();
    try {
        work(-1);
    } catch (const std::invalid_argument &) {
    }
    std::printf("%.6f\n", sums[0] + sums[1]);
}
