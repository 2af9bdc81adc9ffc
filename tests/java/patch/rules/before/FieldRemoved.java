class FieldRemoved { int one; int two; }
