// What Node 20 and 22 before 22.15 call in a thread of their own for `import`. Loaded by index.js.
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const { Replacement } = createRequire(import.meta.url)('./replacement.js')

let replacement

export function initialize (reported) {
  replacement = new Replacement(reported)
}

export async function resolve (specifier, context, next) {
  const found = await next(specifier, context)
  const file = found.url.startsWith('file:') ? replacement.of(fileURLToPath(found.url)) : null
  return file === null ? found : { ...found, url: pathToFileURL(file).href, format: file.endsWith('.json') ? 'json' : 'commonjs' }
}
