'use strict'

module.exports = {
  greet (name) {
    this.app.greeted++
    return `${this.app.config.greet.greeting} ${name}`
  }
}
