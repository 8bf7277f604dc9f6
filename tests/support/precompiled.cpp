// Compiles Catch2 into the precompiled header, with the content of src/support/precompiled.hpp.
