// SPDX-License-Identifier: Apache-2.0
// Recipes of operators that take tensors and a few numbers.
#include <fmt/format.h>

#include <cstdio>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {
namespace {

constexpr std::uint64_t kElementsOfCurves = 1 << 24;  // "16.7 M elements"
constexpr std::uint64_t kHalf = 2;                    // bytes of an element

double bytes_of(std::uint64_t elements) {
  return static_cast<double>(elements) * kHalf * 2;  // read and written
}

// A pool of buffers larger than the L2, one after the other, as the source's benchmark has it.
void past_the_cache(Operation& made) {
  constexpr const char* kBuffers = "8";
  for (auto& [key, value] : made.settings) {
    if (key == "calls") value = "9";
  }
  made.settings.emplace_back("buffers", kBuffers);
}

void set_tile(Operation& made, std::uint64_t bytes) {
  if (bytes != 0) made.settings.emplace_back("tile", std::to_string(bytes));
}

}  // namespace

// Rows of N elements: a batch of them, or as many as the curves have.
Made hadamard(const Measurement& row) {
  const auto columns = side_of(row, {"N"}), batch = side_of(row, {"batch"});
  if (type_of(row) != "float16") return refuse("transformations are compared in float16");
  if (columns == 0) return refuse("the shape has no N");
  const auto rows = batch != 0 ? batch : kElementsOfCurves / columns;
  auto made = compiled(row, "hadamard", fmt::format("{},{}", rows, columns));
  made.bytes = bytes_of(rows * columns);
  set_tile(made, side_of(row, {"tile"}, batch != 0 ? 0 : 16 * 1024));
  if (batch == 0) past_the_cache(made);
  if (row.metric == "fraction_of_copy") {
    auto copy = compiled(row, "copy", std::to_string(rows * columns));
    set_tile(copy, side_of(row, {"tile"}));
    past_the_cache(copy);
    made.reference = std::move(copy.settings);
  }
  return made;
}

Made copy_on_card(const Measurement& row) {
  const auto elements = side_of(row, {"elements"});
  if (type_of(row) != "float16" || elements == 0) return refuse("the shape has no elements");
  auto made = compiled(row, "copy", std::to_string(elements));
  made.bytes = bytes_of(elements);
  return made;
}

// One core reads another card's memory through UB, in tiles of 4 KiB one after the other. A latency
// is what the kernel's own counter says; a rate has the launch in it.
Made remote_get(const Measurement& row) {
  const std::uint64_t bytes = 1024 * (side_of(row, {"KiB"}) + 1024 * side_of(row, {"MiB"}));
  if (bytes == 0) return refuse("the shape has no size in KiB or MiB");
  Measurement typed = row;
  typed.types = {"int8"};
  auto made = compiled(typed, "copy", std::to_string(bytes));
  made.settings.insert(made.settings.end(),
                       {{"peer", "on"}, {"tile", "4096"}, {"sets", "1"}, {"cores", "1"}});
  made.configuration = "system-2x910b2";
  made.bytes = static_cast<double>(bytes);
  made.interval = row.metric == "latency" ? Interval::kPipes : Interval::kWall;
  return made;
}

// "(8,1024,512) ns4": batch, sequence, columns; streams.
Made hyper_connection(const Measurement& row) {
  unsigned long long batch = 0, length = 0, columns = 0, streams = 0;
  const int read = std::sscanf(row.shape.c_str(), "(%8llu,%8llu,%8llu) ns%4llu", &batch, &length,
                               &columns, &streams);
  if (read != 4) return refuse("the shape has no batch, sequence, columns and streams");
  if (type_of(row) != "float32")
    return refuse(fmt::format("no streams of type '{}'", type_of(row)));
  return compiled(row, row.op.c_str(), fmt::format("{},{},{}", batch * length, streams, columns));
}

// The channels are not published; of the source's benchmark they are 1024 to 6144.
Made causal_conv1d(const Measurement& row) {
  const auto length = side_of(row, {"seq"}), batch = side_of(row, {"batch"});
  if (length == 0 || batch == 0) return refuse("the shape has no seq and batch");
  const auto channels = side_of(row, {"dim"}, 4096);
  auto made = compiled(row, "causal_conv1d",
                       fmt::format("{},{},{},{}", batch, length, channels, side_of(row, {"K"}, 4)));
  if (side_of(row, {"dim"}) == 0) made.left_out = "channels are not published, 4096 assumed";
  return made;
}

}  // namespace npu::validate
