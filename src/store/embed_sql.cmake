# cmake -DSQL=schema.sql -DCPP=schema.cpp -P embed_sql.cmake: the file as a C++ string.
file(READ "${SQL}" text)
file(WRITE "${CPP}" "#include \"src/store/schema.hpp\"\n\nnamespace pardec {\n"
     "const char* schema_sql() {\n  return R\"pardec_sql(${text})pardec_sql\";\n}\n"
     "}  // namespace pardec\n")
