// One class and one namespace for `require` and `import`: what a package declares for one of them
// (`declare module 'kone'`) is there for the other.
import Application = require('./index.js')

export = Application
