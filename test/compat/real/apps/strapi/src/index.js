'use strict'

module.exports = { register () {}, bootstrap () {} }
