// SPDX-License-Identifier: Apache-2.0
// Reads a machine's configuration from YAML.
#pragma once

#include <string>
#include <vector>

#include "model/config/config_error.hpp"
#include "model/config/system_config.hpp"

namespace npu::model {

// `path_or_name`: a path, or a name with or without ".yaml" that is looked up in the working
// directory, its configs/ and then `search_paths`. A system file gives a machine as it stands; a
// chip file alone is put into the system file that its key `system` names.
// `overrides`: "link.generation=5" replaces a value before it is checked. A chip's key goes to
// every card, "cards.2.link.generation=5" to one; host keys are "cpu.call_ns" and the like.
// `search_paths`: directories for names and for references that are not beside their file.
// Every error is one that its user can mend; nothing throws.
ConfigResult<SystemConfig> load_system(const std::string& path_or_name,
                                       const std::vector<std::string>& overrides,
                                       const std::vector<std::string>& search_paths);

// The configuration as one YAML document that load_system() accepts and reads back as the same
// values; derived figures (link rate, peak HBM bandwidth) stand beside it as comments.
std::string show_system(const SystemConfig& config);

// Every key with its value, resolved, in the order that show_system() has; names as those of
// overrides, a card's keys once per card: "cards.0.link.generation".
std::vector<ReplacedKey> all_values(const SystemConfig& config);

// Every dotted key that an override may name, in the order of the tables.
std::vector<std::string> override_keys();
// The values such a key may have, if they are a few words or numbers; else empty.
std::vector<std::string> override_words(const std::string& key_name);

// Markdown: every key with unit, range and meaning.
std::string key_reference();

}  // namespace npu::model
