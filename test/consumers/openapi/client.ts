import type { components, paths } from './document'

// What a client of examples/openapi.js may write, and what its compiler refuses.
type Json<T extends { content: object }> = T['content'][keyof T['content']]
type Post = paths['/items']['post']

export const draft: Json<Post['requestBody']> = { name: 'Tea', price: 4 }
export const created: Json<Post['responses'][201]> = { ...draft, id: 1 }
export const listed: Json<paths['/items']['get']['responses'][200]> = [created]
export const item: components['schemas']['Item'] = listed[0]!
export const params: paths['/items/{id}']['get']['parameters']['path'] = { id: item.id }
export const refused: Json<Post['responses'][400]>['issues'][number]['in'] = 'body'
export const absent: paths['/items/{id}']['get']['responses'][404]['content'] = undefined

// @ts-expect-error price is a number
export const text: Json<Post['requestBody']> = { name: 'Tea', price: '4' }
// @ts-expect-error name is missing
export const unnamed: Json<Post['requestBody']> = { price: 4 }
// @ts-expect-error there is no such method
export const removed: paths['/items']['delete'] = {}
// @ts-expect-error there is no such path
export type Other = paths['/others']
