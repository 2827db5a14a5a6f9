// SPDX-License-Identifier: Apache-2.0
// Tests with a bench of their own.
#pragma once

#include <gtest/gtest.h>

namespace npu::test {

// As a fixture: using DmaRing = OnBench<DmaBench>;
template <class Bench>
class OnBench : public testing::Test {
 protected:
  Bench bench;
};

// Runs `body`, which is given the bench, in its simulation: on_bench<PcieBench>(body);
template <class Bench, class F>
void on_bench(F body) {
  Bench bench;
  bench.run([&] { body(bench); });
}

}  // namespace npu::test
