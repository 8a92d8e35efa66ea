// What the JSON-LD libraries load instead of fetching: the contexts of the installed packages, our own context from its
// file, and did:key documents worked out from the DID itself. Anything else is an error: nothing is fetched.

import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {contexts as credentials} from '@digitalbazaar/credentials-context';

const OURS = 'https://w3id.org/muniment/certificate/v1';
const OUR_FILE = fileURLToPath(new URL('../../../ontology/certificate-v1.jsonld', import.meta.url));
const DID_KEY = /^(did:key:(z6Mk[1-9A-HJ-NP-Za-km-z]+))(?:#(.*))?$/;

const contexts = new Map([...credentials, [OURS, JSON.parse(readFileSync(OUR_FILE, 'utf8'))]]);

// A loader that also knows `multikey`, the verification method that the caller was given.
export function offlineLoader(multikey) {
  return async url => {
    const document = url === multikey?.id ? multikey : contexts.get(url) ?? resolve(url);
    if(!document) {
      throw new Error(`${url} is not to be fetched`);
    }
    return {contextUrl: null, documentUrl: url, document};
  };
}

function resolve(url) {
  const [, did, key, fragment] = DID_KEY.exec(url) ?? [];
  if(!did) {
    return undefined;
  }
  const method = `${did}#${key}`;
  if(fragment === undefined) {
    return {
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
      id: did,
      assertionMethod: [method],
    };
  }
  return fragment === key ? {
    '@context': 'https://w3id.org/security/multikey/v1',
    id: method,
    type: 'Multikey',
    controller: did,
    publicKeyMultibase: key,
  } : undefined;
}
