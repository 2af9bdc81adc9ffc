class FieldMadeStatic { int one; }
