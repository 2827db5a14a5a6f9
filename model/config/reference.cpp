// SPDX-License-Identifier: Apache-2.0
// The reference of keys, written from the tables.
#include <fmt/format.h>

#include <functional>

#include "model/config/fabric_keys.hpp"
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
  for (const auto* table : {&chip_table(), &program_core_table(), &timings_table(),
                            &virtual_function_table(), &host_table(), &system_table()}) {
    collect(*table, "", table->schema, sections);
    if (table == &virtual_function_table()) {
      collect(virtual_template_table(), "templates[]", table->schema, sections);
    }
  }
  const std::string& file = system_table().schema;
  collect(host_bridge_table(), "host_bridges[]", file, sections);
  collect(node_table(PciNodeKind::kRootPort), "host_bridges[].root_ports[]", file, sections);
  sections.push_back({"children[] kind switch", file, &node_table(PciNodeKind::kSwitch)});
  sections.push_back({"children[] kind card", file, &node_table(PciNodeKind::kCard)});
  sections.push_back({"children[] kind cards", file, &node_table(PciNodeKind::kCards)});
  sections.push_back({"children[] kind empty_slot", file, &node_table(PciNodeKind::kEmptySlot)});
  collect(fabric_table(), "fabric", file, sections);
  const Key form = *fabric_part_table(FabricForm::kNone).find("form");
  for (std::size_t i = 0; i < form.words.size(); ++i) {
    const auto& table = fabric_part_table(static_cast<FabricForm>(i));
    const std::string path = "fabric.parts[] form " + form.words[i];
    sections.push_back({path, file, &table});
  }
  sections.push_back(
      {"fabric.parts[].link", file, fabric_part_table(FabricForm::kPairs).find("link")->table});
  return sections;
}

using KeyVisitor = std::function<void(const std::string& name, const Key& key)>;

// Keys that an override may name.
void visit_keys(const Table& table, const std::string& path, const KeyVisitor& visit) {
  for (const auto& key : table.keys) {
    const std::string name = path.empty() ? key.name : path + "." + key.name;
    const bool nested = key.type == KeyType::kSection || key.type == KeyType::kFile;
    if (key.type == KeyType::kFile) visit(name, key);
    if (key.table == &host_table()) {
      visit_keys(*key.table, "", visit);
    } else if (nested) {
      visit_keys(*key.table, name, visit);
    } else if (key.type == KeyType::kFabric) {
      visit(name, key);
    } else if (key.store) {
      visit(name, key);
    }
  }
}

std::vector<std::string> words_of(const Key& key) {
  if (key.type == KeyType::kFlag) return {"true", "false"};
  std::vector<std::string> words = key.words;
  if (key.type == KeyType::kNumber) {
    const Unit& unit = unit_of(key.name);
    for (const auto number : key.numbers) words.push_back(std::to_string(number / unit.factor));
  }
  return words;
}

std::string heading(const Section& section) {
  if (section.path.empty()) return fmt::format("`{}`", section.file);
  return fmt::format("`{}`", section.path);
}

}  // namespace

std::vector<std::string> override_keys() {
  std::vector<std::string> names;
  const KeyVisitor take = [&names](const std::string& name, const Key&) { names.push_back(name); };
  visit_keys(chip_table(), "", take);
  visit_keys(system_table(), "", take);
  return names;
}

std::vector<std::string> override_words(const std::string& key_name) {
  std::vector<std::string> words;
  const KeyVisitor look = [&](const std::string& name, const Key& key) {
    if (name == key_name && words.empty()) words = words_of(key);
  };
  visit_keys(chip_table(), "", look);
  visit_keys(system_table(), "", look);
  return words;
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

}  // namespace npu::model
