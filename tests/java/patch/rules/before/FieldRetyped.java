class FieldRetyped { int one; }
