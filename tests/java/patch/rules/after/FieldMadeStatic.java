// refused with 64
class FieldMadeStatic { static int one; }
