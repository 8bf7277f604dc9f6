# cmake -DSQL=schema.sql -DCPP=schema.cpp -P embed_sql.cmake: the file as a C++ string, and its version.
file(READ "${SQL}" text)
string(REGEX MATCH "PRAGMA user_version = ([0-9]+);" found "${text}")
if(NOT found)
  message(FATAL_ERROR "${SQL} has no line 'PRAGMA user_version = NUMBER;'")
endif()
file(WRITE "${CPP}" "#include \"src/store/schema.hpp\"\n\nnamespace pardec {\n"
     "const char* schema_sql() {\n  return R\"pardec_sql(${text})pardec_sql\";\n}\n"
     "int schema_version() { return ${CMAKE_MATCH_1}; }\n}  // namespace pardec\n")
