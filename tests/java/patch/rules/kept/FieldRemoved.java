class FieldRemoved { int one; }
