// SPDX-License-Identifier: Apache-2.0
// The keys of the section `virtual_functions`.
#include "model/config/key_table.hpp"

namespace npu::model {
namespace {

using keys::number;
using keys::section;

const Table& media_table() {
  using M = MediaUnits;
  static const Table kTable{"",
                            "media units; they are counted and executed by nothing",
                            {
                                number("vpc", &M::vpc, 0, 255, "vision preprocessing"),
                                number("jpegd", &M::jpegd, 0, 255, "JPEG decoders"),
                                number("jpege", &M::jpege, 0, 255, "JPEG encoders"),
                                number("venc", &M::venc, 0, 255, "video encoders"),
                                number("vdec", &M::vdec, 0, 255, "video decoders"),
                            }};
  return kTable;
}

}  // namespace

const Table& virtual_template_table() {
  using T = VirtualTemplateConfig;
  static const Table kTable{
      "",
      "a template: what a virtual function made by it has",
      {
          keys::make("name", KeyType::kName, &T::name, "at most 16 characters"),
          number("ai_cores", &T::ai_cores, 1, 256, "AI Cores; of split ones clusters"),
          number("memory_mib", &T::memory, 2, 1 << 20,
                 "device memory, with what is reserved for the card; whole pages of 2 MiB"),
          number("aicpus", &T::aicpus, 1, 64, "AICPUs"),
          section("media", &T::media, media_table()),
      }};
  return kTable;
}

const Table& virtual_function_table() {
  using V = VirtualFunctionConfig;
  static const Table kTable{
      "npusim.virtual_functions/1",
      "what a card is cut into for its virtual functions",
      {
          number("aicpus", &V::aicpus, 0, 64,
                 "AICPUs while the card is divided: data CPUs become some of them"),
          section("media", &V::media, media_table()),
          number("command_us", &V::command, 0, 1'000'000,
                 "of the card's firmware, each command to make or unmake a virtual device"),
          number("dma_weight", &V::dma_weight, 1, 255,
                 "of the physical function while the card is divided: DMA engines"),
          number("hbm_weight", &V::hbm_weight, 1, 255, "the same: bandwidth of the device memory"),
          number("link_weight", &V::link_weight, 1, 255, "the same: bandwidth of the PCIe link"),
          number("link_usable_percent", &V::link_usable_percent, 1, 100,
                 "of the link's rate of data, which functions' weights divide"),
          number("hbm_usable_percent", &V::hbm_usable_percent, 1, 100,
                 "of the HBM's peak, which functions' weights divide"),
          number("scrub_gb_per_s", &V::scrub, 1, 100'000,
                 "rate at which memory that is given back is overwritten with zeros"),
          keys::make("templates", KeyType::kTemplates, &V::templates, "a list of templates"),
      }};
  return kTable;
}

}  // namespace npu::model
