// SPDX-License-Identifier: Apache-2.0
// The keys of the configuration files, each declared once. Reading, showing, overriding and the
// reference in configs/ all walk these tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/config/system_config.hpp"

namespace npu::model {

struct Table;

enum class KeyType {
  kNumber,       // an integer, or a decimal where the unit leaves room (12.5 ns)
  kFlag,         // true or false
  kName,         // letters, digits, '.', '_', '-'
  kChoice,       // one of a few words
  kSection,      // keys of another table
  kFile,         // as kSection, but usually the name of a file that holds them
  kChip,         // as kFile: a card's chip
  kNodes,        // a list of PCI topology nodes
  kBridges,      // a list of host bridges
  kTemplates,    // a list of templates of virtual functions
  kFabric,       // as kSection, or a word
  kFabricParts,  // a list of parts of a fabric
  kTexts,        // a list of text, empty where it is missing; in one text with ';' between
};

// A value as it is stored: numbers in bytes, picoseconds, hertz or as they are.
struct KeyValue {
  std::uint64_t number = 0;
  std::string text;
};

// What the suffix of a key says, "_kib" or "_ns": one of it is `factor` of what is stored.
struct Unit {
  std::string suffix;  // "_kib"; empty: no unit
  std::string text;    // "KiB"
  std::uint64_t factor;
  bool decimal;  // a fraction may be given, as long as it comes out whole
};
const Unit& unit_of(const std::string& key_name);

struct Key {
  std::string name;
  KeyType type = KeyType::kNumber;
  std::uint64_t minimum = 0, maximum = 0;   // kNumber: as stored
  std::string doc;                          // one line
  std::vector<std::uint64_t> numbers = {};  // kNumber: if any, the only values allowed
  std::vector<std::string> words = {};      // kChoice
  bool power_of_two = false;
  bool hexadecimal = false;      // shown and documented so
  const Table* table = nullptr;  // kSection, kFile, kChip
  std::function<void(void*, const KeyValue&)> store = {};
  std::function<KeyValue(const void*)> load = {};
  std::function<void*(void*)> member = {};  // sections and lists: the part of the object they fill

  Key among(std::vector<std::uint64_t> values) && {
    numbers = std::move(values);
    return std::move(*this);
  }
  Key in_powers_of_two() && {
    power_of_two = true;
    return std::move(*this);
  }
  Key in_hex() && {
    hexadecimal = true;
    return std::move(*this);
  }
  // "1..64 KiB, a power of two", "split_queues, shared_queue", "1, 2, 4"
  std::string allowed() const;
};

struct Table {
  std::string schema;  // first key of a file that holds this table; empty: never a file
  std::string doc;
  std::vector<Key> keys;
  // Figures that follow from the values, as text for a comment; may be empty.
  std::function<std::string(const void*)> derived = {};

  const Key* find(const std::string& name) const;
  std::vector<std::string> names() const;
};

const Table& chip_table();              // ChipConfig
const Table& hbm_table();               // HbmConfig
const Table& timings_table();           // HbmTimings
const Table& l2_table();                // L2Config
const Table& command_table();           // CommandConfig
const Table& core_table();              // CoreConfig
const Table& program_core_table();      // ProgramCoreConfig
const Table& aicpu_program_table();     // AicpuProgramConfig
const Table& link_table();              // LinkConfig
const Table& hccs_table();              // HccsConfig
const Table& virtual_function_table();  // VirtualFunctionConfig
const Table& virtual_template_table();  // VirtualTemplateConfig
const Table& host_table();              // SystemConfig: cpu, memory, root complex
const Table& system_table();            // SystemConfig: the rest
const Table& host_bridge_table();       // HostBridgeConfig
const Table& node_table(PciNodeKind kind);

// A part of a configuration, which nothing is written through, and the table of its keys.
struct KeyedPart {
  const Table* table;
  const void* object;
};
// The part of `object` that a section or a file fills; nullopt: the key is neither.
std::optional<KeyedPart> section_of(const Key& key, const void* object);
// The items of a list of parts; nullopt: the key is none.
std::optional<std::vector<KeyedPart>> items_of(const Key& key, const void* object);

namespace keys {

// Of KeyType::kTexts, without empty ones.
inline constexpr char kTextSeparator = ';';
std::vector<std::string> texts_of(const std::string& text);
std::string joined(const std::vector<std::string>& texts);

template <class M>
void assign(M& to, std::uint64_t number) {
  if constexpr (std::is_same_v<M, Picoseconds>) {
    to = Picoseconds(static_cast<std::int64_t>(number));
  } else {
    to = static_cast<M>(number);
  }
}
template <class M>
std::uint64_t number_of(const M& from) {
  if constexpr (std::is_same_v<M, Picoseconds>) {
    return static_cast<std::uint64_t>(from.count());
  } else {
    return static_cast<std::uint64_t>(from);
  }
}

template <class T, class M>
Key make(std::string name, KeyType type, M T::*member, std::string doc) {
  Key key;
  key.name = std::move(name);
  key.type = type;
  key.doc = std::move(doc);
  if constexpr (std::is_same_v<M, std::vector<std::string>>) {
    key.store = [member](void* o, const KeyValue& v) {
      static_cast<T*>(o)->*member = texts_of(v.text);
    };
    key.load = [member](const void* o) {
      return KeyValue{0, joined(static_cast<const T*>(o)->*member)};
    };
  } else if constexpr (std::is_same_v<M, std::string>) {
    key.store = [member](void* o, const KeyValue& v) { static_cast<T*>(o)->*member = v.text; };
    key.load = [member](const void* o) { return KeyValue{0, static_cast<const T*>(o)->*member}; };
  } else if constexpr (std::is_arithmetic_v<M> || std::is_enum_v<M> ||
                       std::is_same_v<M, Picoseconds>) {
    key.store = [member](void* o, const KeyValue& v) {
      assign(static_cast<T*>(o)->*member, v.number);
    };
    key.load = [member](const void* o) {
      return KeyValue{number_of(static_cast<const T*>(o)->*member), {}};
    };
  } else {
    key.member = [member](void* o) -> void* { return &(static_cast<T*>(o)->*member); };
  }
  return key;
}

// `minimum` and `maximum` in the key's own unit.
template <class T, class M>
Key number(std::string name, M T::*member, std::uint64_t minimum, std::uint64_t maximum,
           std::string doc) {
  Key key = make(std::move(name), KeyType::kNumber, member, std::move(doc));
  key.minimum = minimum * unit_of(key.name).factor;
  key.maximum = maximum * unit_of(key.name).factor;
  return key;
}

// `words` in the order of the enumeration's values, which begin at 0.
template <class T, class M>
Key choice(std::string name, M T::*member, std::vector<std::string> words, std::string doc) {
  Key key = make(std::move(name), KeyType::kChoice, member, std::move(doc));
  key.words = std::move(words);
  return key;
}

template <class T, class M>
Key section(std::string name, M T::*member, const Table& table, KeyType type = KeyType::kSection) {
  Key key = make(std::move(name), type, member, table.doc);
  key.table = &table;
  return key;
}

}  // namespace keys
}  // namespace npu::model
