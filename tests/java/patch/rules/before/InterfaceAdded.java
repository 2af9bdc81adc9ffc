class InterfaceAdded {}
