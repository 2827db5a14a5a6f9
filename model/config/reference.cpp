// SPDX-License-Identifier: Apache-2.0
// The reference of keys, written from the tables.
#include <fmt/format.h>

#include <set>

#include "model/config/key_table.hpp"
#include "model/config/load.hpp"

namespace npu::model {
namespace {

struct Section {
  std::string path;  // dotted; empty at the top of a file
  std::string file;  // schema of the file it stands in
  const Table* table;
};

void collect(const Table& table, const std::string& path, const std::string& file,
             std::vector<Section>& sections) {
  sections.push_back({path, file, &table});
  for (const auto& key : table.keys) {
    const std::string below = path.empty() ? key.name : path + "." + key.name;
    if (key.type == KeyType::kSection) collect(*key.table, below, file, sections);
  }
}

std::vector<Section> all_sections() {
  std::vector<Section> sections;
  for (const auto* table :
       {&chip_table(), &program_core_table(), &timings_table(), &host_table(), &system_table()}) {
    collect(*table, "", table->schema, sections);
  }
  const std::string& file = system_table().schema;
  collect(host_bridge_table(), "host_bridges[]", file, sections);
  collect(node_table(PciNodeKind::kRootPort), "host_bridges[].root_ports[]", file, sections);
  sections.push_back({"children[] kind switch", file, &node_table(PciNodeKind::kSwitch)});
  sections.push_back({"children[] kind card", file, &node_table(PciNodeKind::kCard)});
  sections.push_back({"children[] kind empty_slot", file, &node_table(PciNodeKind::kEmptySlot)});
  return sections;
}

void add_keys(const Table& table, const std::string& path, std::vector<std::string>& names) {
  for (const auto& key : table.keys) {
    const std::string name = path.empty() ? key.name : path + "." + key.name;
    const bool nested = key.type == KeyType::kSection || key.type == KeyType::kFile;
    if (key.type == KeyType::kFile) names.push_back(name);
    if (key.table == &host_table()) {
      add_keys(*key.table, "", names);
    } else if (nested) {
      add_keys(*key.table, name, names);
    } else if (key.store) {
      names.push_back(name);
    }
  }
}

std::string compact_keys(const Table& table, bool inside, std::set<const Table*>& shown) {
  std::string text;
  for (const auto& key : table.keys) {
    if (key.store) {
      text += fmt::format(" {} ({});", key.name, key.allowed());
    } else if (inside && shown.insert(key.table).second) {
      text += fmt::format(" {} {{{} }};", key.name, compact_keys(*key.table, inside, shown));
    } else {
      text += fmt::format(" {};", key.name);
    }
  }
  return text;
}

std::string heading(const Section& section) {
  if (section.path.empty()) return fmt::format("`{}`", section.file);
  return fmt::format("`{}`", section.path);
}

}  // namespace

std::vector<std::string> override_keys() {
  std::vector<std::string> names;
  add_keys(chip_table(), "", names);
  add_keys(system_table(), "", names);
  return names;
}

std::string key_reference() {
  std::string text = "# Keys of the configuration files\n";
  for (const auto& section : all_sections()) {
    text += fmt::format("\n## {}\n{}\n\n| key | allowed | meaning |\n|---|---|---|\n",
                        heading(section), section.table->doc);
    for (const auto& key : section.table->keys) {
      text += fmt::format("| {} | {} | {} |\n", key.name, key.allowed(), key.doc);
    }
  }
  return text;
}

std::string compact_key_reference() {
  std::string text = "| section | keys |\n|---|---|\n";
  std::set<const Table*> shown;  // sections of a core are shown in its own row, equal ones once
  for (const auto& section : all_sections()) {
    if (section.file == program_core_table().schema && !section.path.empty()) continue;
    text += fmt::format("| {} |", heading(section));
    text += compact_keys(*section.table, section.table == &program_core_table(), shown);
    text.back() = ' ';
    text += "|\n";
  }
  return text;
}

}  // namespace npu::model
