// Exists to compile the header of the same name.
