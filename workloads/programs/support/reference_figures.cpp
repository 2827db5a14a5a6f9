// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/reference_figures.hpp"

#include <fstream>
#include <sstream>

#include "npu/base/text.hpp"

namespace npu::workloads {

namespace {

constexpr unsigned kFields = 8;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

bool parse(const std::string& text, std::uint64_t& number) {
  const auto read = read_number<std::uint64_t>(text);
  number = read.value_or(0);
  return read.has_value();
}

// "184.8": at most three digits behind the point.
bool parse_thousandths(const std::string& text, Number& number) {
  const auto point = text.find('.');
  std::string digits = text.substr(0, point);
  std::string decimals = point == std::string::npos ? "" : text.substr(point + 1);
  if (decimals.size() > 3) return false;
  decimals.resize(3, '0');
  std::uint64_t value = 0;
  if (!parse(digits + decimals, value)) return false;
  number = Number::scaled(static_cast<std::int64_t>(value), 3);
  return true;
}

bool parse(const std::vector<std::string>& fields, ReferenceFigure& figure) {
  if (fields.size() != kFields) return false;
  figure.tool = fields[0];
  figure.pattern = fields[1];
  return parse(fields[2], figure.outstanding) && parse(fields[3], figure.requests) &&
         parse(fields[4], figure.request_bytes) && parse(fields[5], figure.clocks) &&
         figure.clocks != 0 && parse_thousandths(fields[7], figure.latency_ns) &&
         figure.latency_ns.value() != 0;
}

}  // namespace

Result<std::vector<ReferenceFigure>> read_reference_figures(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kInvalidArgument, "reference figures: cannot read " + path);
  std::vector<ReferenceFigure> figures;
  bool heading = false;
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    if (!heading) {
      heading = true;
      continue;
    }
    ReferenceFigure figure;
    if (!parse(fields_of(line), figure)) {
      return fail(ErrorCode::kInvalidArgument,
                  path + ":" + std::to_string(number) + ": no reference figure: '" + line + "'");
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

Number error_percent(const Number& ours, const Number& theirs) {
  const std::int64_t scaled = (ours.value() - theirs.value()) * 100'000;
  const std::int64_t half = theirs.value() / 2;
  return Number::scaled((scaled < 0 ? scaled - half : scaled + half) / theirs.value(), 3);
}

}  // namespace npu::workloads
