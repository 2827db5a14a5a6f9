// SPDX-License-Identifier: Apache-2.0
// Rows of whole networks: what is run for them follows from their words.
#include <gtest/gtest.h>

#include <fstream>

#include "tools/cli/validate/network_text.hpp"
#include "tools/cli/validate/operation.hpp"

namespace npu::validate {
namespace {

constexpr const char* kNetworkNames =
    "source,sku,cards,model_op,shape_batch_context,metric,value,unit,note,use\n";

Result<std::vector<Measurement>> load_network(const std::string& rows) {
  const std::string path = testing::TempDir() + "/networks.csv";
  std::ofstream(path) << kNetworkNames << rows;
  return load_measurements(path);
}

// Of one row: its run, or why there is none.
std::string network_line(const std::string& columns) {
  const auto rows = load_network(columns + ",check\n");
  if (!rows) return rows.error().context;
  const auto made = operation_of(rows->front());
  if (!made) return made.error();
  std::string line = made->configuration;
  for (const auto& [key, value] : made->settings) line += " " + key + "=" + value;
  return line;
}

TEST(NetworkText, NumbersStandBesideTheirNames) {
  using namespace network;
  EXPECT_EQ(number_behind("decode B16 ctx 4096-5632", "B"), 16U);
  EXPECT_EQ(number_behind("T=24624 (6 x 4104)", "T"), 24624U);
  EXPECT_FALSE(number_behind("AB16", "B"));
  EXPECT_FALSE(number_behind("B9999999999", "B")) << "more digits than a side has";
  EXPECT_EQ(middle_behind("ctx 4096-5632", "ctx"), 4864U);
  EXPECT_EQ(middle_behind("ctx 5632-4096", "ctx"), 5632U);
  EXPECT_EQ(number_before("kernel of 16 ranks", "ranks"), 16U);
  EXPECT_EQ(product_in("B16; 16x5120->768"), (std::vector<std::uint64_t>{16, 5120, 768}));
  EXPECT_EQ(product_in("T=41040; ->3200"), (std::vector<std::uint64_t>{3200}));
  EXPECT_EQ(tensor_in("q 16x4x128, kv heads 1"), (std::vector<std::uint64_t>{16, 4, 128}));
  EXPECT_EQ(tensor_in("T=24624 (6 x 4104)"), (std::vector<std::uint64_t>{6, 4104}));
  EXPECT_EQ(network::bytes_in("16 ranks 1.5 MB"), 3U << 19);
  EXPECT_EQ(network::bytes_in("16x5120 = 160 KB"), 160U * 1024);
  EXPECT_FALSE(network::bytes_in("49 GB/s"));
  EXPECT_FALSE(network::bytes_in("999999999 GB"));
}

TEST(NetworkRow, ProductsHaveTheSidesOfTheRowElseOfTheModel) {
  EXPECT_EQ(network_line("s,910C,8,MatMulV2 qkv,B16; 16x512->768,kernel,1,us,weight NZ"),
            "910c name=basic_matmul shape=16,768,512 dtype=bfloat16 calls=1 cache=folder "
            "functional=off format_b=NZ");
  EXPECT_EQ(network_line("Llama-3-8B TP4 run,910B3,4,MatMul gate_up,T=33; ->7168,kernel,1,us,FP16"),
            "910b3 name=basic_matmul shape=33,7168,4096 dtype=float16 calls=1 cache=folder "
            "functional=off");
  EXPECT_EQ(network_line("s,910C,1,QuantBatchMatmulV3,16x512->768,kernel,1,us,W8A8"),
            "910c name=quant_matmul shape=16,768,512 dtype=int8 calls=1 cache=folder "
            "functional=off out_dtype=bfloat16 scales=both");
}

// What the kernel before wrote is in the L2; weights and caches are not.
TEST(NetworkRow, RowsOfVectorCoresAreWarmAndAttentionIsNot) {
  EXPECT_EQ(network_line("s,910C,8,AddRmsNormBias,16x5120,kernel,1,us,"),
            "910c name=add_rms_norm shape=16,5120 dtype=bfloat16 calls=2 cache=folder "
            "functional=off");
  EXPECT_EQ(network_line("s,910C,8,FusedInferAttentionScore,"
                         "\"B16 ctx 4096-5632; q 16x4x128, kv heads 1\",kernel,1,us,"),
            "910c name=flash_attention shape=16,4,1,1,4864,128 dtype=bfloat16 calls=1 "
            "cache=folder functional=off");
  EXPECT_EQ(network_line("Qwen3-32B TP16,910C,8,FusedInferAttentionScore,6 x 512,kernel,1,us,"),
            "910c name=flash_attention shape=6,4,1,512,512,128 dtype=bfloat16 calls=1 "
            "cache=folder functional=off causal=on");
}

TEST(NetworkRow, OperationsOfSeveralCardsHaveASystem) {
  EXPECT_EQ(network_line("s,910C,8,all_gather,16 ranks 64 KB,bench,1,us,per-rank shard"),
            "system-16x910c op=all_gather ranks=16 type=bf16 sizes=1MiB "
            "functional=off iterations=4");
  EXPECT_EQ(network_line("s,910B,8,allgather part,M128 K512 N64,device time,1,us,INT8"),
            "system-16x910b2 op=all_gather ranks=8 type=int8 sizes=512KiB "
            "functional=off iterations=4");
  EXPECT_EQ(network_line("s,910B,8,allgather part,M128 K512 N64,device time,1,us,fused AIV copy"),
            "system-16x910b2 op=all_gather ranks=8 type=int8 sizes=512KiB "
            "functional=off algorithm=aiv blocks=16 iterations=4");
  EXPECT_EQ(
      network_line("s,910C,8,all_gather,16 ranks 64 KB,bench,1,us,HCCL expansion AIV"),
      "system-16x910c op=all_gather ranks=16 type=bf16 sizes=64KiB functional=off iterations=4");
  EXPECT_EQ(network_line("s,910C,512,all_reduce,1 MB,bench,1,us,"),
            "no system of 1024 dies of this part");
}

TEST(NetworkRow, AStepIsATransformer) {
  EXPECT_EQ(network_line("s,910B3,8,Qwen3-32B aclgraph,concurrency 4,TPOT,1,ms,\"TP8, out 512\""),
            "system-16x910b2 model=qwen3-32b phase=decode layers=sampled batch=4 tokens=1280 "
            "steps=1 dtype=bfloat16 tensor_parallel=8 launch=graph functional=off ai_cores=20");
  EXPECT_EQ(network_line("s,910B,1,Qwen3-8B ACL graph,decode b1,throughput,70,us,"),
            "the unit 'us' is not the figure's");
  EXPECT_EQ(network_line("s,910B,4,Qwen3-30B-A3B TP4,qps 1,mean TPOT,1,ms,"),
            "system-16x910b2 model=qwen3-30b-a3b phase=decode layers=sampled batch=1 tokens=128 "
            "steps=1 dtype=bfloat16 tensor_parallel=4 launch=graph functional=off");
  EXPECT_EQ(network_line("s,910C,8,LongCat-Flash,b4,TPOT,1,ms,"),
            "models with experts are not modelled");
}

TEST(NetworkRow, WhatIsNoRunIsOneLine) {
  EXPECT_EQ(network_line("s,H100,8,SwiGlu,16x512,kernel,1,us,"), "no configuration of this part");
  EXPECT_EQ(network_line("s,910C,8,SwiGlu,999999999x999999999,kernel,1,us,"),
            "the tensor is too large to simulate");
  EXPECT_EQ(network_line("s,910C,8,SwiGlu,0x512,kernel,1,us,"), "the tensor is empty");
  EXPECT_EQ(network_line("s,910C,8,SwiGlu,,kernel,1,us,"), "the tensor's sides are not published");
  EXPECT_EQ(network_line("s,910C,8,SwiGlu,16x512,kernel,1,parsecs,"),
            "the unit 'parsecs' is not the figure's");
  EXPECT_EQ(network_line("s,910C,8,SwiGlu,\"16x512, \"\"quoted\"\"\",colour,1,us,"),
            "the metric 'colour' is none of a kernel");
  EXPECT_EQ(network_line("s,910C,8," + std::string(5000, 'x') + ",16x512,kernel,1,us,"),
            "a text is longer than 4096 characters");
  for (const auto* value : {"", "-1", "0", "nan", "inf", "1e999"}) {
    const auto text = network_line(std::string("s,910C,8,SwiGlu,16x512,kernel,") + value + ",us,");
    EXPECT_NE(text.find(".csv:2: value: found"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace npu::validate
