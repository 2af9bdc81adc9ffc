class FieldAdded { int one; }
