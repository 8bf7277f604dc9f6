// Catch2 beside what src/support/precompiled.hpp has is compiled for it.
