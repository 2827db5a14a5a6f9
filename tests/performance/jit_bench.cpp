// SPDX-License-Identifier: Apache-2.0
// Kernels on demand: what a look-up costs in memory and in the folder, and what a compilation
// costs.
#include <benchmark/benchmark.h>

#include "npu/jit/kernel_cache.hpp"
#include "tests/support/test_folder.hpp"

namespace npu::jit {
namespace {

// A folder with a template that asks for nothing, and a cache in it.
class JitFolder {
 public:
  JitFolder() {
    folder_.write("templates/nothing.cpp",
                  "extern \"C\" __attribute__((visibility(\"default"
                  "\"))) void run(unsigned, void*, const void*) {}\n");
  }

  Toolchain toolchain() const {
    Toolchain toolchain;
    toolchain.compiler = "c++";
    toolchain.templates = folder_.path("templates");
    return toolchain;
  }
  CacheOptions options() const { return {folder_.path("cache")}; }

 private:
  const test::TestFolder folder_;
};

KernelRequest bench_request() {
  Macros macros;
  for (const char* name : {"ELEMENT_A", "ELEMENT_B", "ELEMENT_C", "LAYOUT_A", "LAYOUT_B", "TILE_M",
                           "TILE_N", "TILE_K"}) {
    macros[std::string("NPU_JIT_") + name] = "some_value";
  }
  return {"nothing.cpp", macros, KernelType::kCube};
}

void look_up(benchmark::State& state, Origin expected) {
  const JitFolder folder;
  KernelCache cache(folder.toolchain(), folder.options());
  const auto request = bench_request();
  if (const auto first = cache.get(request); !first) {
    state.SkipWithError(first.error().message().c_str());
    return;
  }
  for (auto _ : state) {
    if (expected != Origin::kMemory) {
      state.PauseTiming();
      if (expected == Origin::kDisk) cache.forget();
      if (expected == Origin::kCompiled && !cache.clear()) std::abort();
      state.ResumeTiming();
    }
    const auto loaded = cache.get(request);
    if (!loaded || loaded->origin != expected) std::abort();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(look_up, memory, Origin::kMemory)->Name("kernels/memory_hit");
// With the digest of the sources, which a process needs once for each template.
BENCHMARK_CAPTURE(look_up, disk, Origin::kDisk)->Name("kernels/disk_hit");
BENCHMARK_CAPTURE(look_up, compiled, Origin::kCompiled)->Name("kernels/compile_nothing");

}  // namespace
}  // namespace npu::jit
