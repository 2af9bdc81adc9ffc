// refused with 64
class FieldAdded { int one; int two; }
