// Each request {"client", "endpoint", "token", "query"} is answered by {"rows"} of a SELECT, {"truth"} of an ASK or
// {"quads"} of a CONSTRUCT, as the client has them; with "update", which is sent first, by what comes after it.

import {QueryEngine} from '@comunica/query-sparql';
import StreamClient from 'sparql-http-client';
import {serve} from './lines.mjs';

const engine = new QueryEngine();

const collected = async (stream) => {
  const all = [];
  for await (const each of stream) all.push(each);
  return all;
};

const quad = ({subject, predicate, object}) => [subject, predicate, object].map(({value}) => value);

async function comunica({endpoint, token, query, update}) {
  const fetch_ = (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, {...init, headers});
  };
  const context = {sources: [{type: 'sparql', value: endpoint}], fetch: fetch_};
  if (update) await engine.queryVoid(update, {...context, destination: {type: 'sparql', value: endpoint}});
  const answer = await engine.query(query, context);
  if (answer.resultType === 'boolean') return {truth: await answer.execute()};
  if (answer.resultType === 'quads') return {quads: (await collected(await answer.execute())).map(quad)};
  const rows = await collected(await answer.execute());
  return {rows: rows.map(row => Object.fromEntries([...row].map(([name, term]) => [name.value, term.value])))};
}

async function streaming({endpoint, token, query, update, form}) {
  const headers = {authorization: `Bearer ${token}`};
  const client = new StreamClient({endpointUrl: endpoint, updateUrl: endpoint, headers});
  if (update) await client.query.update(update);
  if (form === 'ask') return {truth: await client.query.ask(query)};
  if (form === 'construct') return {quads: (await collected(client.query.construct(query))).map(quad)};
  const rows = await collected(client.query.select(query));
  return {rows: rows.map(row => Object.fromEntries(Object.entries(row).map(([name, term]) => [name, term.value])))};
}

const clients = {comunica, 'sparql-http-client': streaming};

await serve(async request => clients[request.client](request));
