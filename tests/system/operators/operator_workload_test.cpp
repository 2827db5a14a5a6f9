// SPDX-License-Identifier: Apache-2.0
// Operators through all layers: call, key, compiler, queues, card. The workload compares every
// element of a product with plain arithmetic and fails if one is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/test_folder.hpp"
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

using Parameters = std::vector<std::string>;

std::string number_of(const workloads::Report& report, const std::string& name) {
  for (const auto& metric : report.metrics()) {
    if (metric.name == name) return metric.value.text();
  }
  return "no " + name;
}

std::string key_note(const workloads::Report& report) {
  for (const auto& note : report.notes()) {
    if (note.find(": key ") != std::string::npos) return note;
  }
  return {};
}

// Accesses of a kernel that nothing orders are errors, too.
struct OperatorMachine : Machine {
  explicit OperatorMachine(const std::string& config, Parameters overrides = {})
      : Machine(with_hazards(std::move(overrides)), config + ".yaml") {
    tells_configuration = true;
  }
  static Parameters with_hazards(Parameters overrides) {
    overrides.emplace_back("core.hazards=fail");
    return overrides;
  }
};

TEST(OperatorWorkload, CompilesOnceAndThenFindsTheKernelInMemory) {
  OperatorMachine machine("910b2");
  const auto report = machine.workload("operator", {"shape=33,17,65", "calls=3"});
  EXPECT_EQ(number_of(report, "operator.compiled"), "1");
  EXPECT_EQ(number_of(report, "operator.disk_hits"), "0");
  EXPECT_EQ(number_of(report, "operator.memory_hits"), "2");
  // printf '%s' 'NPU_JIT_ELEMENT_A=half&NPU_JIT_ELEMENT_B=half&NPU_JIT_ELEMENT_C=half&
  // NPU_JIT_KERNEL_NAME=basic_matmul&NPU_JIT_LAYOUT_A=RowMajor&NPU_JIT_LAYOUT_B=RowMajor&
  // __ARCH__=2201&__KT__=0' in one line, through sha256sum.
  EXPECT_EQ(key_note(report),
            "basic_matmul: key 0b12016e799405fb88f5dbb6f645ec4047a3fe389dc23fa1dc5ca4e9f98de2a4");
}

TEST(OperatorWorkload, TheNextCacheFindsTheKernelInTheFolderAndTimesAreTheSame) {
  const test::TestFolder folder;
  const char* const before = std::getenv("NPUSIM_JIT_CACHE_DIR");
  const std::string others = before == nullptr ? "" : before;
  ASSERT_EQ(setenv("NPUSIM_JIT_CACHE_DIR", folder.path().c_str(), 1), 0);
  const Parameters parameters{"shape=33,17,65", "cache=folder"};
  OperatorMachine machine("910b2");
  // Another key. What a machine does first finds its caches empty, which is not what is compared.
  machine.workload("operator", {"shape=33,17,65", "cache=folder", "transpose_a=on"});
  const auto compiled = machine.workload("operator", parameters);
  const auto found = machine.workload("operator", parameters);
  EXPECT_EQ(number_of(compiled, "operator.compiled"), "1");
  EXPECT_EQ(number_of(found, "operator.compiled"), "0");
  EXPECT_EQ(number_of(found, "operator.disk_hits"), "1");
  EXPECT_EQ(number_of(found, "operator.memory_hits"), "1");
  for (const char* name : {"operator.first_call.jit_ns", "operator.host.jit_ns"}) {
    EXPECT_EQ(number_of(found, name), number_of(compiled, name)) << name;
  }
  // A wait ends a few rounds of polling sooner or later.
  for (const char* name : {"operator.first_call.total_ns", "operator.host.total_ns"}) {
    EXPECT_NEAR(metric(found, name), metric(compiled, name), 100) << name;
  }
  setenv("NPUSIM_JIT_CACHE_DIR", others.c_str(), 1);
}

TEST(OperatorWorkload, LayersAddUpToTheCall) {
  OperatorMachine machine("910b2");
  const auto report = machine.workload("operator", {"shape=33,17,65"});
  for (const std::string prefix : {"operator.first_call.", "operator.host."}) {
    double sum = 0;
    for (const char* layer : {"wrapper", "operator", "jit", "template", "launcher"}) {
      sum += metric(report, prefix + layer + "_ns");
    }
    EXPECT_NEAR(sum, metric(report, prefix + "total_ns"), 1e-6);
    EXPECT_GT(metric(report, prefix + "jit_ns"), 0);
    EXPECT_GT(metric(report, prefix + "launcher_ns"), 0);
  }
  EXPECT_GT(metric(report, "operator.first_call.jit_ns"), metric(report, "operator.host.jit_ns"));
  EXPECT_GT(metric(report, "operator.first_call.launcher_ns"),
            metric(report, "operator.host.launcher_ns"));
  EXPECT_GT(metric(report, "operator.device_us"), 0.7);
  // Doorbell, launch and completion are around it.
  EXPECT_GT(metric(report, "operator.wall_us"), metric(report, "operator.device_us") + 0.5);
}

// Each element is compared, within what its roundings come to.
TEST(OperatorWorkload, ComputesAnyExpression) {
  OperatorMachine machine("910b2");
  for (const char* expression :
       {"expression=where(a<b,exp(a),ln(abs(b)+1))", "expression=gelu(max(a,b))/(abs(c)+s1)-d"}) {
    const auto report =
        machine.workload("operator", {"name=elementwise", "shape=1237", "calls=1", expression});
    EXPECT_GT(metric(report, "operator.device_us"), 0) << expression;
  }
}

TEST(OperatorWorkload, FindsAnL2ThatIsColdOrWarm) {
  OperatorMachine machine("910b2");
  const Parameters sum{"name=elementwise", "expression=a+b", "shape=200000"};
  auto cold = sum, warm = sum;
  cold.emplace_back("l2=cold");
  warm.emplace_back("l2=warm");
  warm.emplace_back("calls=1");
  const auto first = machine.workload("operator", cold),
             second = machine.workload("operator", warm);
  EXPECT_EQ(number_of(first, "operator.memory_hits"), "0") << "one call";
  EXPECT_GT(metric(first, "operator.hbm_bytes"), 2 * 2 * 200'000) << "both operands";
  EXPECT_LT(metric(second, "operator.hbm_bytes"), 10'000);
}

using TypeAndOut = std::pair<const char*, const char*>;
class OperatorProducts : public testing::TestWithParam<std::tuple<const char*, TypeAndOut>> {};

// Each with A and B in layouts of their own.
TEST_P(OperatorProducts, AreRight) {
  const auto& [config, types] = GetParam();
  OperatorMachine machine(config);
  const Parameters typed{std::string("dtype=") + types.first,
                         std::string("out_dtype=") + types.second, "cache=folder"};
  for (const Parameters& more :
       {Parameters{"shape=37,53,71"}, Parameters{"shape=37,53,71", "transpose_a=on", "format_b=NZ"},
        Parameters{"name=batched_matmul", "shape=3,17,31,65", "format_a=NZ", "transpose_b=on"},
        Parameters{"name=grouped_matmul", "shape=3,37,31,65", "format_a=NZ", "transpose_b=on"},
        Parameters{"name=grouped_matmul", "slice=k", "shape=3,37,31,65", "format_b=NZ"},
        Parameters{"name=splitk_matmul", "shape=17,33,1025", "splits=3", "format_b=NZ",
                   "transpose_b=on"}}) {
    Parameters all = typed;
    all.insert(all.end(), more.begin(), more.end());
    const auto report = machine.workload("operator", all);
    EXPECT_EQ(number_of(report, "operator.memory_hits"), "1");
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, OperatorProducts,
                         testing::Combine(testing::Values("910b", "910b2"),
                                          testing::Values(TypeAndOut{"float16", "auto"},
                                                          TypeAndOut{"int8", "int32"})),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param)) + "_" +
                                  std::get<1>(instance.param).first;
                         });

class OperatorFamilies : public testing::TestWithParam<const char*> {};

TEST_P(OperatorFamilies, AreRight) {
  OperatorMachine machine(GetParam());
  for (const Parameters& parameters :
       {Parameters{"name=gemv", "shape=37,1025", "transpose_a=on"},
        Parameters{"name=gemv", "shape=37,1025", "dtype=int8"},
        Parameters{"name=elementwise", "shape=10007", "expression=a*s+b"},
        Parameters{"name=elementwise", "shape=10007", "expression=max(a,b)", "dtype=int32"},
        Parameters{"name=softmax", "shape=17,1000", "dtype=float32"},
        Parameters{"name=softmax", "shape=2,65536"},  // weights that fp16 has few digits for
        Parameters{"name=rms_norm", "shape=17,1000", "dtype=bfloat16"},
        Parameters{"name=swi_glu", "shape=17,1000", "dtype=bfloat16"},
        Parameters{"name=dynamic_quant", "shape=17,1000"},
        Parameters{"name=add_rms_norm", "shape=17,1000", "dtype=float32"},
        Parameters{"name=add_rms_norm_dynamic_quant", "shape=17,1000"},
        Parameters{"name=dequant_swiglu_quant", "shape=17,1000", "dtype=int32", "quant_scales=on"},
        Parameters{"name=dequant_swiglu_quant", "shape=17,1000", "activate_left=off"},
        Parameters{"name=quant_matmul", "shape=37,53,71", "dtype=int8", "format_b=NZ"},
        Parameters{"name=quant_matmul", "shape=3,37,53,71", "dtype=int8", "out_dtype=float16",
                   "scales=columns", "bias=int32"},
        Parameters{"name=quant_matmul", "shape=2,37,53,71", "dtype=int8", "out_dtype=bfloat16",
                   "scales=one", "bias=bfloat16"},
        Parameters{"name=grouped_matmul", "shape=3,37,53,71", "bias=float16"},
        Parameters{"name=splitk_matmul", "shape=37,53,710", "dtype=bfloat16", "bias=float32"},
        Parameters{"name=where", "shape=13,1,57", "other_shape=37,1", "condition_shape=37,57"},
        Parameters{"name=where", "shape=1", "condition_shape=7,11,2", "dtype=int64"},
        Parameters{"name=equal", "shape=131,57", "other_shape=57", "dtype=bfloat16"},
        Parameters{"name=less_equal", "shape=131,57", "other_shape=131,1", "dtype=int8"},
        Parameters{"name=logical_and", "shape=5,7", "other_shape=5,7", "dtype=int8"},
        Parameters{"name=logical_not", "shape=101", "dtype=float32"},
        Parameters{"name=pow", "shape=101", "other_shape=101", "dtype=float32"},
        Parameters{"name=clip", "shape=101", "dtype=int32"},
        Parameters{"name=leaky_relu", "shape=10007"},
        Parameters{"name=erf", "shape=10007", "dtype=float32"},
        Parameters{"name=cast", "shape=1009", "out_dtype=float32"},
        Parameters{"name=cast", "shape=1009", "dtype=float32", "out_dtype=int8"},
        Parameters{"name=cast_round", "shape=1009", "dtype=float32", "out_dtype=int32"},
        Parameters{"name=elementwise", "shape=1009", "dtype=float32",
                   "expression=floor(a*64)+ceil(b*9)*trunc(c*20)+rint(d*9)"},
        Parameters{"name=top_k", "shape=37,1000,8", "dtype=bfloat16"},
        Parameters{"name=reduce_max", "shape=3,70,11"},
        Parameters{"name=rope_interleaved", "shape=5,3,64"},
        Parameters{"name=concat", "shape=5,3,64,1,0,7"},
        Parameters{"name=embedding", "shape=37,64,50"},
        Parameters{"name=copy", "shape=100003", "tile=4096"},
        Parameters{"name=copy", "shape=517", "dtype=int32", "buffers=3"},
        Parameters{"name=hadamard", "shape=301,32"},
        Parameters{"name=hadamard", "shape=77,256"},
        Parameters{"name=hadamard", "shape=13,2048", "dtype=float32", "tile=16384"},
        Parameters{"name=causal_conv1d", "shape=3,37,600,4", "dtype=bfloat16"},
        Parameters{"name=causal_conv1d", "shape=2,5,33,7", "dtype=float32"},
        Parameters{"name=rms_norm_cast", "shape=101,1000", "dtype=bfloat16"},
        Parameters{"name=rms_norm_cast", "shape=3,7168"},
        Parameters{"name=chunk_cumsum", "shape=301,13,64", "dtype=float32"},
        Parameters{"name=scaled_dot_kkt", "shape=256,2,4,32,64"},
        Parameters{"name=wy_fast", "shape=256,1,3,48,128"},
        Parameters{"name=mhc_post", "shape=37,4,1000", "dtype=float32"},
        Parameters{"name=mhc_res", "shape=11,8,40", "dtype=float32"},
        Parameters{"name=scaled_dot_kkt", "shape=192,1,2,16,192"},
        Parameters{"name=chunk_o", "shape=128,2,4,80,64"},
        Parameters{"name=chunk_o", "shape=256,1,2,128,128", "dtype=bfloat16"},
        Parameters{"name=flash_attention", "shape=1,4,2,33,65,32"},
        Parameters{"name=flash_attention", "shape=2,2,1,33,65,32", "causal=on"}}) {
    Parameters all = parameters;
    all.emplace_back("cache=folder");
    const auto report = machine.workload("operator", all);
    EXPECT_EQ(number_of(report, "operator.memory_hits"), "1") << parameters[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, OperatorFamilies, testing::Values("910b", "910b2", "950pr"),
                         [](const auto& instance) { return std::string(instance.param); });

// The parts' sums lie in it: splits x m x n elements of fp32 (operators.md B2).
TEST(OperatorWorkload, SplitKHasAWorkspaceAndTwoLaunches) {
  OperatorMachine machine("910b2");
  const auto report = machine.workload(
      "operator", {"name=splitk_matmul", "shape=16,32,1024", "splits=2", "dtype=float32"});
  EXPECT_EQ(number_of(report, "operator.workspace_bytes"), "4096");
  EXPECT_EQ(number_of(report, "operator.launches"), "2");
}

// UB holds a chunk's output, which is stored, and then the next chunk's weights.
TEST(OperatorWorkload, AttentionOfManyChunksMakesNoWeightsWhereOutputIsYetToBeStored) {
  OperatorMachine machine("910b2", {"l2.size_mib=3"});
  const auto report = machine.workload(
      "operator",
      {"name=flash_attention", "shape=1,8,1,200,200,72", "dtype=float32", "causal=on", "calls=1"});
  EXPECT_EQ(number_of(report, "operator.launches"), "1");
}

TEST(OperatorWorkload, SolvesTriangularSystemsWhereACubeCanKeepThem) {
  OperatorMachine split("910b2"), coupled("910b");
  const Parameters solve{"name=solve_tril", "shape=128,3,128", "dtype=bfloat16"};
  EXPECT_EQ(number_of(split.workload("operator", solve), "operator.launches"), "2");
  workloads::Report report;
  const auto refused = coupled.attempt(report, "operator", solve);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("from L0C to L1"));
}

TEST(OperatorWorkload, ExpertsThatThereAreNotAreToldInALine) {
  OperatorMachine machine("910b2");
  const std::pair<Parameters, const char*> cases[] = {
      {{"name=moe_gating_top_k", "shape=3,8,9,1,1,0", "dtype=float32"},
       "k is larger than the number of experts"},
      {{"name=moe_gating_top_k", "shape=3,64,2,4,2,0", "dtype=float32"},
       "groups and the experts of each must be multiples of 8"},
      {{"name=moe_gating_top_k_softmax", "shape=3,64,9,8,1,0"},
       "the kept groups have fewer experts than k"},
      {{"name=moe_init_routing", "shape=3,8,2,4,3,2"}, "there are fewer experts than that"}};
  for (const auto& [parameters, told] : cases) {
    workloads::Report report;
    const auto refused = machine.attempt(report, "operator", parameters);
    ASSERT_FALSE(refused) << told;
    EXPECT_THAT(refused.error().message(), testing::HasSubstr(told));
  }
}

// Choices of many pieces, counted first; of one, by each core.
TEST(OperatorWorkload, RowsGoToExpertsInOneLaunchIfTheyAreFew) {
  OperatorMachine machine("910b2");
  const auto launches = [&](const char* shape) {
    return number_of(machine.workload("operator", {"name=moe_init_routing", shape}),
                     "operator.launches");
  };
  EXPECT_EQ(launches("shape=128,64,8,37,0,37"), "1");
  EXPECT_EQ(launches("shape=129,64,8,37,0,37"), "2");
}

// Without data: a core's copies ask for their time alone.
TEST(OperatorWorkload, ACopyFromAnotherCardTakesLonger) {
  OperatorMachine machine("system-2x910b2", {"core.functional=false"});
  const Parameters copy{"name=copy", "shape=65536", "dtype=int8", "cores=1", "tile=4096"};
  const auto with = [&](Parameters more) {
    more.insert(more.end(), copy.begin(), copy.end());
    return metric(machine.workload("operator", more), "operator.pipes_us");
  };
  const double own = with({}), far = with({"peer=on"}), in_turn = with({"peer=on", "sets=1"});
  EXPECT_GT(far, own);
  EXPECT_GT(in_turn, far);
}

// A decoded token's product, with all of it in the L2: narrow tiles are deep, and take no more
// steps.
TEST(OperatorWorkload, WeightsInFractalsTakeNoMoreStepsThanRows) {
  OperatorMachine machine("910b2", {"core.functional=false"});
  const auto with = [&](const char* format) {
    return metric(machine.workload("operator", {"shape=1,22016,4096", "l2=warm", format}),
                  "operator.device_us");
  };
  const double rows = with("format_b=ND");
  EXPECT_LT(with("format_b=NZ"), 1.03 * rows);  // a store for each narrow tile
}

TEST(OperatorWorkload, EmptyResultsLaunchNothing) {
  OperatorMachine machine("910b2");
  const auto report = machine.workload("operator", {"shape=0,17,65"});
  EXPECT_EQ(number_of(report, "operator.launches"), "0");
  EXPECT_EQ(number_of(report, "operator.device_us"), "0.000000");
}

}  // namespace
}  // namespace npu::test
