// refused with 66
class InterfaceAdded implements java.io.Serializable {}
