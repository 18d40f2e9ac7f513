'use strict'

// What options of a kind must refuse.
exports.STRINGS = [5, null, {}]
exports.TEXTS = [...exports.STRINGS, '']
exports.BOOLEANS = ['yes', 1, null]
exports.FUNCTIONS = ['f', {}, null]
exports.SIZES = ['much', -1, NaN, null, '-1kb', '12 apples']
exports.ENCODING = [5, 'yes', { level: 99, params: { 99: 1 } }]
