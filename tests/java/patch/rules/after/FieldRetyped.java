// refused with 64
class FieldRetyped { long one; }
