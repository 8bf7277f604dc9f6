// Packing without intrinsics, for the sets that have nothing better; included inside an unnamed
// namespace.

/// As Kernels::pack_panel.
void pack_panel(const std::uint16_t* const* rows, std::int64_t inputs, std::uint16_t* panel) {
  for (std::int64_t k = 0; k < inputs; k += 2, panel += 2 * kPanel)
    for (std::int64_t j = 0; j < kPanel; ++j) {
      panel[2 * j] = rows[j] ? rows[j][k] : 0;
      panel[2 * j + 1] = rows[j] && k + 1 < inputs ? rows[j][k + 1] : 0;
    }
}

/// values [keys, dim], at most 32 keys, to panels of 32 columns whose inputs are 32 keys:
/// [ceil(dim / 32)][16][32][2].
void pack_value_pairs(const std::uint16_t* values, std::int64_t keys, std::int64_t dim,
                      std::uint16_t* panels) {
  for (std::int64_t column = 0; column < dim; column += kPanel)
    for (std::int64_t pair = 0; pair < kPanel / 2; ++pair, panels += 2 * kPanel)
      for (std::int64_t j = 0; j < kPanel; ++j)
        for (std::int64_t i = 0; i < 2; ++i) {
          const std::int64_t key = 2 * pair + i;
          const bool there = key < keys && column + j < dim;
          panels[2 * j + i] = there ? values[key * dim + column + j] : std::uint16_t{0};
        }
}
