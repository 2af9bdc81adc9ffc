// refused with 64
class FieldRemoved { int one; }
