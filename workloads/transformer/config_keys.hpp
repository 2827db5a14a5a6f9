// SPDX-License-Identifier: Apache-2.0
// Keys of an object of a config.json, each refused by its name.
#pragma once

#include <cstdint>
#include <string>

#include "npu/base/result.hpp"
#include "tools/reports/json_value.hpp"

namespace npu::workloads::transformer {

class ConfigKeys {
 public:
  // Both outlive it. `file`: its path; `within`: what stands before a key's name ("rope_scaling.").
  ConfigKeys(const std::string& file, const reports::JsonValue& json, std::string within = "")
      : file_(file), json_(json), within_(std::move(within)) {}

  // kInvalidArgument: "file: key: why".
  tl::unexpected<Error> refuse(const std::string& key, const std::string& why) const;
  // Null: it is missing, or null in the file.
  const reports::JsonValue* find(const char* name) const;
  std::string text(const char* name) const;  // empty: it is none
  bool flag(const char* name, bool usual = false) const;

  struct Whole {
    const char* name;
    std::uint64_t& to;
    std::uint64_t most, usual;  // usual: if it is missing; 0: it may not be
  };
  // From 1 to `most`. kInvalidArgument: it is missing, or another value.
  Status take(const Whole& key) const;
  // Above 0 and below 1e12. kInvalidArgument: another value.
  Result<double> real(const char* name, double usual) const;

  const std::string& file() const { return file_; }
  const reports::JsonValue& json() const { return json_; }

 private:
  const std::string& file_;
  const reports::JsonValue& json_;
  const std::string within_;
};

}  // namespace npu::workloads::transformer
