// The header of this name is compiled for it.
