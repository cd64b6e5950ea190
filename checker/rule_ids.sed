# SPDX-License-Identifier: Apache-2.0
# Makes the enumeration of the rules from the rows of rules.def and rules_aie.def.
s/^RULE(\([A-Z]*\), \([0-9]*[a-z]*\),.*/    \1_\2,/p
