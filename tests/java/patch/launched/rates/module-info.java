module rates {
    exports rates;
}
