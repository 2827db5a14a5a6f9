// SPDX-License-Identifier: Apache-2.0
// The rules of the house as functions of a file's text, so that each can be shown a violation.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace npu::architecture {

struct SourceFile {
  std::string path;  // from the root of the tree, with '/'
  std::string text;
};

struct Violation {
  std::string path;
  std::size_t line;  // from 1; 0: the file as a whole
  std::string rule;

  std::string message() const { return path + ":" + std::to_string(line) + ": " + rule; }
};

using Violations = std::vector<Violation>;
using Tree = std::set<std::string>;  // the paths of all files

// The part of the tree a file belongs to, e.g. "driver/vfio"; empty for paths outside the table.
std::string area_of(std::string_view path);

// Every #include against the table of directions. Quoted includes must name a file of the tree.
Violations check_includes(const SourceFile& file, const Tree& tree);

// A folder of the driver or of the models includes files of folders below it alone.
Violations check_storeys(const SourceFile& file);

// What an opened card is made of is known in driver/device alone; each folder above it asks for the
// parts that it has a row for.
Violations check_parts(const SourceFile& file);

// No clock but the platform's in code that runs in simulated time.
Violations check_wall_clock(const SourceFile& file);

// Driver and firmware are the real ones: no conditional code for the simulator.
Violations check_simulator_conditionals(const SourceFile& file);

// What a program finds wrong by itself is no device fault.
Violations check_device_faults(const SourceFile& file);

// A figure of a workload is a row (workloads/framework/figures.hpp), declared once.
Violations check_figures(const SourceFile& file);

// Two files never define one class of a namespace.
Violations check_one_definition(const std::vector<SourceFile>& files);

// A machine is composed once; benches of a model make it by itself.
Violations check_composition(const SourceFile& file);

// Functions in front, engines behind (docs/architecture.md): a model never picks one function out
// of all, and what works for all of them never sees the registers of one.
Violations check_functions(const SourceFile& file);

// Length and licence line of sources, scripts and CMake files.
Violations check_form(const SourceFile& file);

// Every folder that holds files has a README.md of at most 40 lines (the root: 110).
Violations check_readmes(const Tree& tree, const std::vector<SourceFile>& readmes);

// Lines of `nm` output that name a symbol of SystemC, TLM or the model.
std::vector<std::string> foreign_symbols(std::string_view nm_output);

// Source text without comments and string literals; line breaks stay.
std::string code_of(std::string_view text);

}  // namespace npu::architecture
