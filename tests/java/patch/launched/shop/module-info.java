module shop {
    requires rates;
}
