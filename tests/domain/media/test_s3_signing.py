"""Signatures against the examples that AWS has published ("Examples: Signature Calculations", API reference of S3)."""

import attrs
import pytest

from crowdd.features.media.s3 import Asked, Credentials, percent_encode, query_string, sha256, sign_headers

KEYS = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
HOST, NOW = "examplebucket.s3.amazonaws.com", 1_369_353_600.0  # 2013-05-24T00:00:00Z


@pytest.mark.parametrize(
    ("method", "path", "query", "headers", "body", "signature"),
    [
        (
            "GET", "/test.txt", [], {"Range": "bytes=0-9"}, b"",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT", "/" + percent_encode("test$file.text"), [],
            {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
            b"Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        ("GET", "/", [("lifecycle", "")], {}, b"", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        (
            "GET", "/", [("prefix", "J"), ("max-keys", "2")], {}, b"",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)  # fmt: skip
def test_signatures_are_those_of_the_published_examples(method, path, query, headers, body, signature) -> None:
    asked = Asked(method, query=query, headers=headers, body=body)
    sent = sign_headers(KEYS, asked, HOST, path, NOW)
    assert sent["Authorization"].endswith(f"Signature={signature}")
    assert sent["x-amz-date"] == "20130524T000000Z" and sent["x-amz-content-sha256"] == sha256(body)
    other = sign_headers(KEYS, attrs.evolve(asked, body=body + b"x"), HOST, path, NOW)
    assert not other["Authorization"].endswith(signature)


def test_names_are_encoded_as_the_service_does() -> None:
    assert percent_encode("a b+c/ü~_.-=", "/") == "a%20b%2Bc/%C3%BC~_.-%3D"
    assert query_string([("b", "ü &="), ("a", "")]) == "a=&b=%C3%BC%20%26%3D"
    assert "wJalr" not in repr(KEYS)
