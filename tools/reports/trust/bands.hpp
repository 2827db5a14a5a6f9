// SPDX-License-Identifier: Apache-2.0
// Bands in which silicon is expected with a probability of 90 %, from the errors of compared rows.
//
// A kind's centre and spread are those of its rows, drawn to those of the next wider kind as if
// that were two rows more: operator and bound, operator, bound, all rows of the SKU. How many
// spreads a band is wide comes from the rows themselves: each is left out, and nine tenths of them
// must lie within (docs/accuracy.md). Logarithms of predicted / measured throughout.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/reports/trust/known_errors.hpp"

namespace npu::reports {

struct Band {
  double low = 0, high = 0;     // measured / predicted
  std::size_t alike = 0;        // rows of the operator with the same bound
  std::size_t of_operator = 0;  // rows of the operator on this SKU; 0: no comparison exists
  std::size_t of_bound = 0;     // rows of any operator with the bound
  std::size_t fits = 0;         // of the operator's, or without any of the bound's
};

// How many rows lay in bands that were made without them.
struct Coverage {
  std::size_t rows = 0, held = 0;
};

class Bands {
 public:
  enum class LeftOut : std::uint8_t { kRow, kOperator };
  static constexpr std::size_t kFewest = 20;  // rows of a SKU; of fewer no band is made

  explicit Bands(const std::vector<KnownError>& errors);

  // Rows of a SKU that were compared.
  std::size_t rows(const std::string& sku) const;
  // None: these are too few.
  std::optional<Band> of(const std::string& sku, const std::string& operation,
                         const std::string& bound) const;
  // Of the SKUs that have bands.
  std::map<std::string, Coverage> coverage(LeftOut what) const;

 private:
  struct Row {
    int operation, bound;
    double ratio;  // logarithm
    bool fit;
  };
  using Rows = std::vector<Row>;
  struct Estimate {
    double centre, spread;
  };
  static Estimate estimate(const Rows& rows, int operation, int bound);
  static double score(const Rows& rows, const Row& row);
  static Rows without(const Rows& rows, std::size_t row, LeftOut what);
  static double width(const Rows& rows, LeftOut what);
  int number_of(const std::string& name);
  int number_of(const std::string& name) const;

  std::map<std::string, Rows> skus_;
  std::map<std::string, int> names_;  // of operators and bounds
};

}  // namespace npu::reports
